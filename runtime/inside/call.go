package inside

import (
	"context"
	"encoding/json"
	"net"
	"path/filepath"
	"time"

	"github.com/hitchpost/hitchpost"
)

// Call asks the service about the note of the session whose environment getenv reads, and returns the note as it is then.
// Errors are of the kinds of package hitchpost: UsageError outside of a session, UnavailableError where the service is away
// or does not answer, and those of the service.
func Call(ctx context.Context, getenv func(string) string, session string, n Note) (string, error) {
	socket, token := getenv(SocketVariable), getenv(TokenVariable)
	switch {
	case session == "":
		return "", hitchpost.Errorf(hitchpost.UsageError, "this is not inside a session").
			Hinted("from outside: ssh host note REF")
	case !filepath.IsAbs(socket) || token == "":
		return "", hitchpost.Errorf(hitchpost.UsageError, "the environment has nothing to reach the service by").
			Hinted("restart the session, or use `ssh host note`")
	}
	if err := hitchpost.CheckNote(n.Text); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return "", away("the service is away", err)
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now()) })()
	q := request{Version: protocol, Session: session, Token: token, Change: n.Change, Append: n.Append, Text: n.Text}
	if err := json.NewEncoder(conn).Encode(q); err != nil {
		return "", away("the service does not listen", err)
	}
	var r reply
	if err := receive(conn, &r); err != nil {
		return "", away("the service did not answer", err)
	}
	if r.Error != nil {
		return "", r.Error.err()
	}
	return r.Note, nil
}

func away(what string, err error) error {
	return hitchpost.Errorf(hitchpost.UnavailableError, "%s: %w", what, err).Hinted("try again in a moment")
}

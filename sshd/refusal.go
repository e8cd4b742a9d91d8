package sshd

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	gossh "golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
)

// The most that is kept of the tries of one connection.
const (
	keptKeys    = 4
	keptReasons = 3
	keptText    = 160 // bytes of a text that is not ours
)

// tries is what a client did to come in. Where it did not, that is told once, however often it tried.
type tries struct {
	keys    []string // fingerprints of the first few
	count   int      // of keys
	reasons []string // the first few that differ
	offered bool     // a key that would have done
	end     error    // of the handshake
}

// key notes one key, and why it does not let anybody in; nil where it would.
func (t *tries) key(key gossh.PublicKey, err error) {
	t.count++
	if len(t.keys) < keptKeys {
		t.keys = append(t.keys, gossh.FingerprintSHA256(key))
	}
	if err == nil {
		t.offered = true
		return
	}
	t.reason(err)
}

// reason notes why a try failed.
func (t *tries) reason(err error) {
	text := err.Error()
	var ours *hitchpost.Error
	if errors.As(err, &ours) {
		text = ours.Message
	}
	if len(text) > keptText {
		text = text[:keptText] // what is cut in two is made valid by who writes it down
	}
	if len(t.reasons) < keptReasons && !slices.Contains(t.reasons, text) {
		t.reasons = append(t.reasons, text)
	}
}

// refusedByUs is what gliderlabs/ssh makes of a key that offered refused, whose reason is known already.
const refusedByUs = "permission denied"

// attempted notes how a try ended, as the library tells it: also those that never came to us.
func (t *tries) attempted(method string, err error) {
	switch {
	case err == nil || method == "none" || err.Error() == refusedByUs:
	case method == "publickey":
		t.reason(err)
	default:
		if len(method) > keptText/4 {
			method = method[:keptText/4]
		}
		t.reason(fmt.Errorf("only keys are taken, not %q", method))
	}
}

// why tells in a few words why nobody came in.
func (t *tries) why() string {
	var network net.Error
	switch {
	case len(t.reasons) > 0:
		text := t.reasons[0]
		for _, more := range t.reasons[1:] {
			text += "; " + more
		}
		return text
	case !t.offered:
		return "no key was tried"
	case errors.As(t.end, new(*gossh.ServerAuthError)), errors.As(t.end, &network), errors.Is(t.end, io.EOF), t.end == nil:
		return "a known key was offered and did not sign"
	}
	failed := &tries{}
	failed.reason(t.end)
	return "a known key did not prove itself: " + failed.reasons[0]
}

// tellRefused tells, once for a connection, that nobody came in. It is told after the answer, and waits for nothing.
func (c *connection) tellRefused(t *tries, actor string) {
	if c.srv.cfg.Refused == nil || c.srv.stop.Err() != nil {
		return
	}
	remote := c.net.RemoteAddr().String()
	if host, _, err := net.SplitHostPort(remote); err == nil {
		remote = host
	}
	c.srv.cfg.Refused(hitchpost.Refusal{
		Remote: remote, Network: c.address, Login: c.user(), Actor: actor,
		Fingerprints: t.keys, Keys: t.count, Reason: t.why(),
	})
}

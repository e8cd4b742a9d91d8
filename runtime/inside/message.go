package inside

import (
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/hitchpost/hitchpost"
)

const (
	// messageLimit bounds a message, in bytes: a note as JSON, of which every character is escaped.
	messageLimit = 6*hitchpost.MaxNote + 4096
	// serveTime is how long a call may take at the service, from its first byte to its last.
	serveTime = 8 * time.Second
	// callTime is how long a caller waits for it.
	callTime = 10 * time.Second
	// protocol is the version of the messages.
	protocol = 1
)

// Note is what is asked about a session's note: to read it, or with Change to change it first.
type Note struct {
	Change bool
	Text   string
	Append bool
}

// request is one message to the service.
type request struct {
	Version int    `json:"version"`
	Session string `json:"session"`
	Token   string `json:"token"`
	Change  bool   `json:"change,omitempty"`
	Append  bool   `json:"append,omitempty"`
	Text    string `json:"text,omitempty"`
}

// reply is the answer: the note as it is then, or an error.
type reply struct {
	Note  string  `json:"note"`
	Error *failed `json:"error,omitempty"`
}

// failed is an error of package hitchpost on its way.
type failed struct {
	Kind    hitchpost.ErrorKind `json:"code"`
	Message string              `json:"message"`
	Field   string              `json:"field,omitempty"`
	Hint    string              `json:"hint,omitempty"`
}

func asFailed(err error) *failed {
	var e *hitchpost.Error
	if !errors.As(err, &e) {
		return &failed{Kind: hitchpost.KindOf(err), Message: err.Error()}
	}
	return &failed{e.Kind, e.Message, e.Field, e.Hint}
}

func (f failed) err() error {
	return hitchpost.Errorf(f.Kind, "%s", f.Message).For(f.Field).Hinted("%s", f.Hint)
}

// receive reads the one message of the other side into v.
func receive(r io.Reader, v any) error {
	return json.NewDecoder(io.LimitReader(r, messageLimit)).Decode(v)
}

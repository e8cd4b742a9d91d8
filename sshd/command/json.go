package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/hitchpost/hitchpost"
)

// The documents of the command contract. A field without a value is null and never left out; a list is never null.

type sessionView struct {
	ID             string           `json:"id"`
	Handle         string           `json:"handle"`
	Title          string           `json:"title"`
	Kind           hitchpost.Kind   `json:"kind"`
	Node           string           `json:"node"`
	Project        *string          `json:"project"`
	Cwd            string           `json:"cwd"`
	Repo           *string          `json:"repo"`
	Branch         *string          `json:"branch"`
	State          hitchpost.State  `json:"state"`
	StateReason    *string          `json:"state_reason"`
	StateSource    hitchpost.Source `json:"state_source"`
	StateSince     stamp            `json:"state_since"`
	Attached       int              `json:"attached"`
	Args           []string         `json:"args"`
	ConversationID *string          `json:"conversation_id"`
	ExitCode       *int             `json:"exit_code"`
	ExitSignal     *string          `json:"exit_signal"`
	Restarts       int              `json:"restarts"`
	Note           *string          `json:"note"`
	Check          *string          `json:"check"`
	CreatedAt      stamp            `json:"created_at"`
	StartedAt      stamp            `json:"started_at"`
	EndedAt        stamp            `json:"ended_at"`
	LastOutputAt   stamp            `json:"last_output_at"`
	LastAttachedAt stamp            `json:"last_attached_at"`
}

func viewSession(s hitchpost.Session) sessionView {
	args := s.Args
	if args == nil {
		args = []string{}
	}
	return sessionView{
		ID: s.ID, Handle: s.Handle, Title: s.Title, Kind: s.Kind, Node: s.Node, Project: orNull(s.Project), Cwd: s.Cwd,
		Repo: orNull(s.Repo), Branch: orNull(s.Branch), State: s.State, StateReason: orNull(s.StateReason),
		StateSource: s.StateSource, StateSince: stamp(s.StateSince), Attached: s.Attached, Args: args,
		ConversationID: orNull(s.ConversationID), ExitCode: s.ExitCode, ExitSignal: orNull(s.ExitSignal),
		Restarts: s.Restarts, Note: orNull(s.Note), Check: orNull(s.Check), CreatedAt: stamp(s.CreatedAt),
		StartedAt: stamp(s.StartedAt), EndedAt: stamp(s.EndedAt), LastOutputAt: stamp(s.LastOutputAt),
		LastAttachedAt: stamp(s.LastAttachedAt),
	}
}

type sessionList struct {
	Version  int           `json:"version"`
	Sessions []sessionView `json:"sessions"`
}

func listSessions(sessions []hitchpost.Session) sessionList {
	return sessionList{1, each(sessions, viewSession)}
}

// screenView is a session with the text on its screen.
type screenView struct {
	sessionView
	Screen string `json:"screen"`
}

type textView struct {
	Text string `json:"text"`
}

type keyView struct {
	Fingerprint   string         `json:"fingerprint"`
	KeyType       string         `json:"key_type"`
	Comment       *string        `json:"comment"`
	Actor         string         `json:"actor"`
	Role          hitchpost.Role `json:"role"`
	CreatedAt     stamp          `json:"created_at"`
	ExpiresAt     stamp          `json:"expires_at"`
	RevokedAt     stamp          `json:"revoked_at"`
	LastUsedAt    stamp          `json:"last_used_at"`
	AuthorizedKey string         `json:"authorized_key"`
}

func viewKey(k hitchpost.Key) keyView {
	return keyView{
		Fingerprint: k.Fingerprint, KeyType: k.Type, Comment: orNull(k.Comment), Actor: k.Actor, Role: k.Role,
		CreatedAt: stamp(k.CreatedAt), ExpiresAt: stamp(k.ExpiresAt), RevokedAt: stamp(k.RevokedAt),
		LastUsedAt: stamp(k.LastUsedAt), AuthorizedKey: k.AuthorizedKey,
	}
}

type keyList struct {
	Version int       `json:"version"`
	Keys    []keyView `json:"keys"`
}

type nodeView struct {
	ID     string              `json:"id"`
	Name   string              `json:"name"`
	State  hitchpost.NodeState `json:"state"`
	Reason *string             `json:"reason"`
	Since  stamp               `json:"since"`
}

func viewNode(n hitchpost.Node) nodeView {
	return nodeView{n.ID, n.Name, n.State, orNull(n.Reason), stamp(n.Since)}
}

type nodeList struct {
	Version int        `json:"version"`
	Nodes   []nodeView `json:"nodes"`
}

type statusView struct {
	Version  string                  `json:"version"`
	Started  stamp                   `json:"started_at"`
	Database partView                `json:"database"`
	Nodes    []nodeView              `json:"nodes"`
	Sessions map[hitchpost.State]int `json:"sessions"` // every state, also those that no session is in
	Clients  int                     `json:"clients"`
}

type partView struct {
	OK     bool    `json:"ok"`
	Reason *string `json:"reason"`
	Since  stamp   `json:"since"`
}

func viewStatus(s hitchpost.Status) statusView {
	v := statusView{
		Version: s.Version, Started: stamp(s.Started), Nodes: each(s.Nodes, viewNode), Clients: s.Clients,
		Database: partView{s.Database.OK, orNull(s.Database.Reason), stamp(s.Database.Since)},
		Sessions: map[hitchpost.State]int{},
	}
	for _, state := range hitchpost.States() {
		v.Sessions[state] = s.Sessions[state]
	}
	return v
}

type actorView struct {
	Actor       string         `json:"actor"`
	Role        hitchpost.Role `json:"role"`
	Fingerprint string         `json:"fingerprint"`
	KeyType     string         `json:"key_type"`
	Login       string         `json:"login"`
	Remote      string         `json:"remote"`
}

type versionView struct {
	Version string `json:"version"`
}

// stamp is a time as scripts read it: UTC, to the millisecond, null where there is none.
type stamp time.Time

const stampLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON never fails.
func (s stamp) MarshalJSON() ([]byte, error) {
	t := time.Time(s)
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat(make([]byte, 0, len(stampLayout)+2), `"`+stampLayout+`"`), nil
}

// orNull is nil for a text that is not there.
func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func each[A, B any](list []A, view func(A) B) []B {
	out := make([]B, len(list))
	for i, item := range list {
		out[i] = view(item)
	}
	return out
}

// document prints the one JSON document of a command.
func (c *call) document(v any) error {
	if err := writeJSON(c.Stdout, v); err != nil {
		return errGone
	}
	return nil
}

// writeJSON writes v on one line, at once. What a terminal would take for a control character is escaped also where
// JSON does not ask for it: DEL, and the second block of controls with its one-character CSI.
func writeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeControls(buf.Bytes()))
	return err
}

func escapeControls(doc []byte) []byte {
	control := func(i int) (rune, int) {
		switch {
		case doc[i] == 0x7f:
			return 0x7f, 1
		case doc[i] == 0xc2 && i+1 < len(doc) && doc[i+1] < 0xa0: // U+0080 to U+009F in UTF-8
			return rune(doc[i+1]), 2
		}
		return 0, 0
	}
	if !bytes.ContainsAny(doc, "\x7f\u0080\u0081\u0082\u0083\u0084\u0085\u0086\u0087\u0088\u0089\u008a\u008b\u008c\u008d\u008e"+
		"\u008f\u0090\u0091\u0092\u0093\u0094\u0095\u0096\u0097\u0098\u0099\u009a\u009b\u009c\u009d\u009e\u009f") {
		return doc
	}
	out := make([]byte, 0, len(doc)+64)
	for i := 0; i < len(doc); {
		if r, n := control(i); n > 0 {
			out = fmt.Appendf(out, `\u%04x`, r)
			i += n
			continue
		}
		out = append(out, doc[i])
		i++
	}
	return out
}

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
	Worktree       *string          `json:"worktree"`
	Clash          []clashView      `json:"clash"`
	State          hitchpost.State  `json:"state"`
	StateReason    *string          `json:"state_reason"`
	StateSource    hitchpost.Source `json:"state_source"`
	StateSince     stamp            `json:"state_since"`
	Attached       int              `json:"attached"`
	Args           []string         `json:"args"`
	ConversationID *string          `json:"conversation_id"`
	Agent          *agentView       `json:"agent"`
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
	ClosedAt       stamp            `json:"closed_at"`
}

func viewSession(s hitchpost.Session) sessionView {
	args := s.Args
	if args == nil {
		args = []string{}
	}
	return sessionView{
		ID: s.ID, Handle: s.Handle, Title: s.Title, Kind: s.Kind, Node: s.Node, Project: orNull(s.Project), Cwd: s.Cwd,
		Repo: orNull(s.Repo), Branch: orNull(s.Branch), Worktree: orNull(s.Worktree), Clash: viewClash(s.Clash),
		State: s.State, StateReason: orNull(s.StateReason),
		StateSource: s.StateSource, StateSince: at(s.StateSince), Attached: s.Attached, Args: args,
		ConversationID: orNull(s.ConversationID), Agent: viewAgent(s.Agent),
		ExitCode: s.ExitCode, ExitSignal: orNull(s.ExitSignal), Restarts: s.Restarts,
		Note: orNull(s.Note), Check: orNull(s.Check), CreatedAt: at(s.CreatedAt),
		StartedAt: at(s.StartedAt), EndedAt: at(s.EndedAt), LastOutputAt: at(s.LastOutputAt),
		LastAttachedAt: at(s.LastAttachedAt), ClosedAt: at(s.ClosedAt),
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
	Screen       string `json:"screen"`
	ScreenSeenAt stamp  `json:"screen_seen_at"` // null: now
}

type textView struct {
	Text   string `json:"text"`
	SeenAt stamp  `json:"seen_at"` // null: now
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
		CreatedAt: at(k.CreatedAt), ExpiresAt: at(k.ExpiresAt), RevokedAt: at(k.RevokedAt),
		LastUsedAt: at(k.LastUsedAt), AuthorizedKey: k.AuthorizedKey,
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
	return nodeView{n.ID, n.Name, n.State, orNull(n.Reason), at(n.Since)}
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
		Version: s.Version, Started: at(s.Started), Nodes: each(s.Nodes, viewNode), Clients: s.Clients,
		Database: partView{s.Database.OK, orNull(s.Database.Reason), at(s.Database.Since)},
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
type stamp *string

const stampLayout = "2006-01-02T15:04:05.000Z"

func at(t time.Time) stamp {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(stampLayout)
	return &text
}

// orNull is nil for a text that is not there.
func orNull[T ~string](s T) *T {
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
	var out []byte
	done := 0 // what of doc is in out
	for i := 0; i < len(doc); i++ {
		r, n := rune(doc[i]), 1
		switch {
		case r < 0x7f:
			continue
		case r == 0xc2 && i+1 < len(doc) && doc[i+1] < 0xa0: // U+0080 to U+009F in UTF-8
			r, n = rune(doc[i+1]), 2
		case r != 0x7f:
			continue
		}
		out = fmt.Appendf(append(out, doc[done:i]...), `\u%04x`, r)
		done = i + n
		i = done - 1
	}
	if done == 0 {
		return doc
	}
	return append(out, doc[done:]...)
}

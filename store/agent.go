package store

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/hitchpost/hitchpost"
)

// agentRow is a hitchpost.Agent as the column agent holds it. Fields that it does not name are skipped.
type agentRow struct {
	Program       string      `json:"program,omitempty"`
	Version       string      `json:"version,omitempty"`
	ConfigDir     string      `json:"config_dir,omitempty"`
	Dir           string      `json:"dir,omitempty"`
	Status        string      `json:"status,omitempty"`
	StatusSource  string      `json:"status_source,omitempty"`
	StatusAt      time.Time   `json:"status_at,omitzero"`
	Uncertain     string      `json:"uncertain,omitempty"`
	Hooks         string      `json:"hooks,omitempty"`
	Screen        string      `json:"screen,omitempty"`
	Title         string      `json:"title,omitempty"`
	LastPrompt    string      `json:"last_prompt,omitempty"`
	LastAnswer    string      `json:"last_answer,omitempty"`
	TokensIn      int64       `json:"tokens_in,omitempty"`
	TokensOut     int64       `json:"tokens_out,omitempty"`
	ContextTokens int64       `json:"context_tokens,omitempty"`
	Transcript    string      `json:"transcript,omitempty"`
	Former        []formerRow `json:"former,omitempty"`
	Mark          string      `json:"mark,omitempty"`
}

type formerRow struct {
	ID    string    `json:"id"`
	Since time.Time `json:"since,omitzero"`
	Until time.Time `json:"until,omitzero"`
	How   string    `json:"how,omitempty"`
}

// agent is what the row holds; nil for null.
func (r *agentRow) agent() *hitchpost.Agent {
	if r == nil {
		return nil
	}
	a := hitchpost.Agent{
		Program: r.Program, Version: r.Version, ConfigDir: r.ConfigDir, Dir: r.Dir,
		Status: r.Status, StatusSource: hitchpost.Source(r.StatusSource), StatusAt: r.StatusAt, Uncertain: r.Uncertain,
		Hooks: hitchpost.HookHealth(r.Hooks), Screen: hitchpost.AgentScreen(r.Screen),
		Title: r.Title, LastPrompt: r.LastPrompt, LastAnswer: r.LastAnswer,
		TokensIn: r.TokensIn, TokensOut: r.TokensOut, ContextTokens: r.ContextTokens, Transcript: r.Transcript, Mark: r.Mark,
	}
	for _, f := range r.Former {
		a.Former = append(a.Former, hitchpost.FormerConversation(f))
	}
	return &a
}

// agentJSON is a as a parameter, with null for nil. Equal ones give equal text.
func agentJSON(a *hitchpost.Agent) (any, error) {
	if a == nil {
		return nil, nil
	}
	k := storable(*a)
	r := agentRow{
		Program: k.Program, Version: k.Version, ConfigDir: k.ConfigDir, Dir: k.Dir,
		Status: k.Status, StatusSource: string(k.StatusSource), StatusAt: k.StatusAt, Uncertain: k.Uncertain,
		Hooks: string(k.Hooks), Screen: string(k.Screen),
		Title: k.Title, LastPrompt: k.LastPrompt, LastAnswer: k.LastAnswer,
		TokensIn: k.TokensIn, TokensOut: k.TokensOut, ContextTokens: k.ContextTokens, Transcript: k.Transcript, Mark: k.Mark,
	}
	for _, f := range k.Former {
		r.Former = append(r.Former, formerRow{plain(f.ID), micros(f.Since), micros(f.Until), plain(f.How)})
	}
	text, err := json.Marshal(r)
	return string(text), err
}

// storable is a as the database gives it back, the former conversations excepted.
func storable(a hitchpost.Agent) hitchpost.Agent {
	for _, text := range []*string{
		&a.Program, &a.Version, &a.ConfigDir, &a.Dir, &a.Status, &a.Uncertain, &a.Title, &a.LastPrompt, &a.LastAnswer,
		&a.Transcript, &a.Mark,
	} {
		*text = plain(*text)
	}
	a.StatusAt = micros(a.StatusAt)
	return a
}

// known is what s has of its agent replaced by a. What belongs to the session and not to one reading of its agent, the
// former conversations, stays.
func known(s hitchpost.Session, a hitchpost.Agent) hitchpost.Session {
	a = storable(a)
	a.Former = nil
	if s.Agent != nil {
		a.Former = s.Agent.Former
	}
	s.Agent = &a
	return s
}

// moved is s with another conversation. The one that it leaves joins the former ones, and what was known of that is
// forgotten.
func moved(s hitchpost.Session, to, how string, at time.Time) hitchpost.Session {
	if to == "" || to == s.ConversationID {
		return s
	}
	if s.ConversationID != "" {
		var a hitchpost.Agent
		if s.Agent != nil {
			a = *s.Agent
		}
		left := hitchpost.FormerConversation{ID: s.ConversationID, Since: s.CreatedAt, Until: at, How: how}
		if n := len(a.Former); n > 0 {
			left.Since = a.Former[n-1].Until
		}
		a.Former = append(slices.Clone(a.Former), left)
		a.Former = a.Former[max(0, len(a.Former)-hitchpost.MaxFormer):]
		a.Title, a.LastPrompt, a.LastAnswer, a.Transcript = "", "", "", ""
		a.TokensIn, a.TokensOut, a.ContextTokens = 0, 0, 0
		s.Agent = &a
	}
	s.ConversationID = to
	return s
}

// reborn is s without what was known of the agent's last process, whose marks say nothing of those of the next.
func reborn(s hitchpost.Session) hitchpost.Session {
	if s.Agent == nil {
		return s
	}
	a := *s.Agent
	a.Status, a.StatusSource, a.StatusAt, a.Uncertain, a.Hooks, a.Mark = "", "", time.Time{}, "", "", ""
	s.Agent = &a
	return s
}

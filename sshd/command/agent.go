package command

import (
	"fmt"

	"github.com/hitchpost/hitchpost"
)

type agentView struct {
	Program      *string                `json:"program"`
	Version      *string                `json:"version"`
	ConfigDir    *string                `json:"config_dir"`
	Status       *string                `json:"status"`
	StatusSource *hitchpost.Source      `json:"status_source"`
	StatusAt     stamp                  `json:"status_at"`
	Uncertain    *string                `json:"uncertain"`
	Hooks        *hitchpost.HookHealth  `json:"hooks"`
	Screen       *hitchpost.AgentScreen `json:"screen"`
	Title        *string                `json:"title"`
	LastPrompt   *string                `json:"last_prompt"`
	LastAnswer   *string                `json:"last_answer"`
	Tokens       *tokensView            `json:"tokens"`
	Transcript   *string                `json:"transcript"`
	Former       []formerView           `json:"former"`
}

type tokensView struct {
	Input   int64 `json:"input"`
	Output  int64 `json:"output"`
	Context int64 `json:"context"`
}

type formerView struct {
	ID    string  `json:"id"`
	Since stamp   `json:"since"`
	Until stamp   `json:"until"`
	How   *string `json:"how"`
}

func viewAgent(a *hitchpost.Agent) *agentView {
	if a == nil {
		return nil
	}
	v := &agentView{
		Program: orNull(a.Program), Version: orNull(a.Version), ConfigDir: orNull(a.ConfigDir), Status: orNull(a.Status),
		StatusSource: orNull(a.StatusSource), StatusAt: at(a.StatusAt), Uncertain: orNull(a.Uncertain), Hooks: orNull(a.Hooks),
		Screen: orNull(a.Screen), Title: orNull(a.Title), LastPrompt: orNull(a.LastPrompt), LastAnswer: orNull(a.LastAnswer),
		Transcript: orNull(a.Transcript), Former: each(a.Former, viewFormer),
	}
	if counted(a) {
		v.Tokens = &tokensView{a.TokensIn, a.TokensOut, a.ContextTokens}
	}
	return v
}

func viewFormer(f hitchpost.FormerConversation) formerView {
	return formerView{f.ID, at(f.Since), at(f.Until), orNull(f.How)}
}

// counted reports whether the tokens of the agent's conversation are known.
func counted(a *hitchpost.Agent) bool {
	return a.TokensIn != 0 || a.TokensOut != 0 || a.ContextTokens != 0
}

// agentRows is what people want of the agent of s; none where it runs none.
func (c *call) agentRows(s hitchpost.Session) [][]string {
	a := s.Agent
	if a == nil {
		return nil
	}
	rows := [][]string{{"version", or(a.Version)}, {"agent status", c.agentStatus(s)}}
	if a.Uncertain != "" {
		rows = append(rows, []string{"uncertain", a.Uncertain})
	}
	if a.Hooks == hitchpost.HooksNotSeen {
		rows = append(rows, []string{"hooks", "not seen, so that questions and errors are known without their words"})
	}
	tokens := "-"
	if counted(a) {
		tokens = fmt.Sprintf("%d in, %d out, %d in use", a.TokensIn, a.TokensOut, a.ContextTokens)
	}
	rows = append(rows, [][]string{
		{"agent title", or(a.Title)}, {"last prompt", or(a.LastPrompt)}, {"last answer", or(a.LastAnswer)}, {"tokens", tokens},
	}...)
	for i, f := range a.Former {
		label := ""
		if i == 0 {
			label = "former"
		}
		rows = append(rows, []string{label, fmt.Sprintf("%s until %s, %s", f.ID, c.when(f.Until), or(f.How))})
	}
	return rows
}

// agentStatus is what the agent does as its best source has it, or did when its process ended.
func (c *call) agentStatus(s hitchpost.Session) string {
	a := s.Agent
	if a.Status == "" {
		return "-"
	}
	text := fmt.Sprintf("%s (%s, %s ago)", a.Status, or(string(a.StatusSource)), c.age(a.StatusAt))
	if s.State.Ended() {
		return "was " + text
	}
	return text
}

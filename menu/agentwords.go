package menu

import "github.com/hitchpost/hitchpost"

// waitsFor is why a session waits for a person; empty for one that does not.
func waitsFor(s hitchpost.Session) string {
	if s.State != hitchpost.WaitingForInput {
		return ""
	}
	return clean(s.StateReason)
}

// agentStory is what is known of a session's agent, beside its state: what makes that state less sure comes first.
func agentStory(s hitchpost.Session) []string {
	a := s.Agent
	if a == nil {
		return nil
	}
	var lines []string
	add := func(before, text string) {
		if text != "" {
			lines = append(lines, before+clean(text))
		}
	}
	if s.State.Live() {
		add("uncertain: ", a.Uncertain)
		if a.Hooks == hitchpost.HooksNotSeen {
			lines = append(lines, "its hooks are not seen")
		}
	}
	if a.Title != s.Title {
		add("on: ", a.Title)
	}
	add("you: ", a.LastPrompt)
	add("it: ", a.LastAnswer)
	return lines
}

// doubt is what follows the source of a state that is uncertain.
func doubt(s hitchpost.Session) string {
	if s.Agent == nil || s.Agent.Uncertain == "" || !s.State.Live() {
		return ""
	}
	return ", uncertain"
}

// clashes is what else works in the tree of a session's agent.
func clashes(s hitchpost.Session) string {
	return "another agent in its tree: " + clean(hitchpost.NameAgents(s.Clash))
}

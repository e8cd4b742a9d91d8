package hitchpost

import (
	"fmt"
	"strings"
)

// NameAgents lists agents in a sentence, fit for one line of a terminal: a session by its handle, another by its program
// and process.
func NameAgents(list []OtherProcess) string {
	var words []string
	for i, p := range list {
		if i == namedProcesses {
			words = append(words, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		words = append(words, nameAgent(p))
	}
	return strings.Join(words, ", ")
}

func nameAgent(p OtherProcess) string {
	var about []string
	name := p.Agent
	if name == "" {
		name = OneLine(p.Program)
	}
	if p.Session != "" {
		about = append(about, name)
		name = "session " + p.Session
	}
	if p.Pid != 0 {
		about = append(about, fmt.Sprintf("process %d", p.Pid))
	}
	if !p.Since.IsZero() {
		about = append(about, "since "+p.Since.UTC().Format("2006-01-02 15:04:05Z"))
	}
	if len(about) == 0 {
		return name
	}
	return name + " (" + strings.Join(about, ", ") + ")"
}

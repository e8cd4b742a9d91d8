package host

import (
	"path"
	"slices"
	"strings"
)

// KnownAgents are the agents that are known by their programs.
func KnownAgents() []string { return []string{"claude", "codex", "opencode", "gemini", "aider"} }

// nameless are the files of agents whose own name means nothing.
func nameless() map[string]string {
	return map[string]string{"/node_modules/@anthropic-ai/claude-code/cli.js": "claude"}
}

// AgentIn is the agent that a command line runs, one of KnownAgents, and empty for any other: by the program's name or,
// where that is an interpreter, by its script's. What else stands in the words means nothing: a search for claude is not
// claude.
func AgentIn(words ...string) string {
	if len(words) == 0 {
		return ""
	}
	program := words[0]
	if script, ok := script(program, words[1:]); ok {
		return agentFile(script)
	}
	return agentFile(program)
}

// agentFile is the agent that a program or script is, by its path. An ending is taken off inside of an installed package
// alone: somebody's own claude.js is not claude.
func agentFile(file string) string {
	name := strings.TrimSuffix(path.Base(file), ".exe")
	if strings.Contains(file, "/node_modules/") {
		name = strings.TrimSuffix(name, ".js")
	}
	if slices.Contains(KnownAgents(), name) {
		return name
	}
	for ending, agent := range nameless() {
		if strings.HasSuffix(file, ending) {
			return agent
		}
	}
	// Claude's own installer calls the file by its version, and the program starts itself anew by that name.
	if path.Base(path.Dir(file)) == "versions" && path.Base(path.Dir(path.Dir(file))) == "claude" {
		return "claude"
	}
	return ""
}

// script is the script or module that an interpreter runs, empty for none; false where the program is no interpreter.
func script(program string, words []string) (string, bool) {
	var takes, inline []string // options whose value is the next word, and those that hold the program itself
	switch name := path.Base(program); {
	case name == "node" || name == "nodejs":
		takes = []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions"}
		inline = []string{"-e", "--eval", "-p", "--print", "-pe", "-i", "--interactive", "-c", "--check", "--test"}
	case name == "bun":
		takes = []string{"-r", "--preload", "--cwd", "-c", "--config"}
		inline = []string{"-e", "--eval", "-p", "--print"}
		if len(words) > 0 && words[0] == "run" {
			words = words[1:]
		}
	case strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy"):
		takes = []string{"-W", "-X", "--check-hash-based-pycs"}
		inline = []string{"-c"}
	default:
		return "", false
	}
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == "-m" && takes[0] == "-W": // a module of Python
			if i+1 < len(words) {
				return words[i+1], true
			}
		case slices.Contains(inline, w), w == "-":
			return "", true
		case slices.Contains(takes, w):
			i++
		case !strings.HasPrefix(w, "-"):
			return w, true
		case w == "--":
			if i+1 < len(words) {
				return words[i+1], true
			}
		}
	}
	return "", true
}

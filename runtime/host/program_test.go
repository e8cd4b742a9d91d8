package host_test

import (
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/host"
)

func TestAgentsAreKnownByProgramOrScript(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"claude":                               "claude",
		"/home/a/.local/bin/claude --resume x": "claude",
		"/home/a/.local/share/claude/versions/2.1.332 --session-id x":                           "claude",
		"node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js":                           "claude",
		"/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe":                        "claude",
		"node --max-old-space-size=4096 /usr/lib/node_modules/@openai/codex/bin/codex.js":       "codex",
		"/usr/lib/node_modules/@openai/codex-linux-x64/vendor/x/bin/codex":                      "codex",
		"node --require ./hook.js /usr/bin/gemini -i fix":                                       "gemini",
		"/usr/bin/node --no-warnings /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js": "gemini",
		"bun run /usr/local/bin/opencode":                                                       "opencode",
		"/root/.opencode/bin/opencode":                                                          "opencode",
		"/home/a/venv/bin/python3.12 /home/a/venv/bin/aider --model x":                          "aider",
		"python -m aider":                    "aider",
		"python3 -X dev -W error -m aider .": "aider",

		"grep claude":                            "",
		"grep -r codex /home/a/claude":           "",
		"vim claude":                             "",
		"emacs -nw /home/a/gemini":               "",
		"less /var/log/aider":                    "",
		"tail -f claude.log":                     "",
		"man claude":                             "",
		"bash -c claude":                         "",
		"sudo claude":                            "",
		"tmux new-session claude":                "",
		"/opt/claude/bin/helper":                 "",
		"/home/a/claude/versions/notes/read.me":  "",
		"node server.js claude":                  "",
		"node -e 1 claude":                       "",
		"node --eval 1 -- claude":                "",
		"node -r claude server.js":               "",
		"node":                                   "",
		"node claude.js":                         "",
		"python3 claude.py":                      "",
		"python3 -c 1 aider":                     "",
		"python3 - aider":                        "",
		"python3 manage.py aider":                "",
		"python3 -m pytest aider":                "",
		"python3 -m":                             "",
		"node /src/opencode-ai/scripts/build.js": "",
		"rg --files /home/a/claude":              "",
		"claudette":                              "",
		"/usr/lib/node_modules/@anthropic-ai/claude-code/vendor/ripgrep/x64-linux/rg x": "",
		"npm exec @google/gemini-cli": "",
	} {
		if got := host.AgentIn(strings.Fields(words)...); got != want {
			t.Errorf("%q is taken for %q, want %q", words, got, want)
		}
	}
	if got := host.AgentIn(""); got != "" {
		t.Errorf("no name is taken for %q", got)
	}
}

package preset

import (
	"maps"
	"slices"
	"strings"
)

// Preset is what is known of an agent. It is not to be changed.
type Preset struct {
	Name    string `json:"-"`
	Version int    `json:"version"` // of the format: 1
	About   string `json:"about"`   // one line for people

	Program string   `json:"program"` // a name to be found in PATH, or an absolute path
	First   []string `json:"start"`   // words behind it, before the person's own
	// Again are the words of a Restart in place of First, and Same those of one whose conversation is known.
	Again []string `json:"restart"`
	Same  []string `json:"restart_conversation"`
	// Guesses tells that Again opens the newest conversation of the directory, which may be another session's.
	Guesses bool `json:"restart_guesses"`
	// Flags and Switches are what a Restart repeats of the person's words: flags with the word behind them, and those
	// without one. All other words, a first prompt above all, are not said again.
	Flags    []string `json:"keep_flags"`
	Switches []string `json:"keep_switches"`

	Env   map[string]string `json:"environment"`
	Files []string          `json:"files"` // which the folder holds; each lies beside the preset under its name
	Hook  *Hook             `json:"hook"`  // nil: it tells nothing

	Sources []string `json:"sources"` // where the facts were found

	files map[string][]byte
}

// Values are what stands for the placeholders of a preset. ${hook.json}, which TOML reads too, and ${hook.shell} are
// Hook with --preset NAME, ${folder.url} is Folder as in a file: URL.
type Values struct {
	Hook         []string // absolute program and words of `hitchpost hook`
	Session      string   // ${session}: the session's id
	Folder       string   // ${folder}: absolute, of the session for its preset alone
	Conversation string   // ${conversation}: the agent's own id of it; empty: unknown
}

// Start is the command line of a first start with the person's words.
func (p Preset) Start(v Values, words []string) []string {
	return append(p.fill(v, append([]string{p.Program}, p.First...)), words...)
}

// Restart is the command line of a Restart of what was started with the person's words.
func (p Preset) Restart(v Values, words []string) []string {
	again := p.Again
	if v.Conversation != "" && len(p.Same) > 0 {
		again = p.Same
	}
	return append(p.fill(v, append([]string{p.Program}, again...)), p.kept(words)...)
}

// Environment is what the agent needs in its environment, as NAME=value, sorted.
func (p Preset) Environment(v Values) []string {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		env = append(env, name+"="+p.fill(v, []string{p.Env[name]})[0])
	}
	return env
}

// File is the content of one of p.Files.
func (p Preset) File(name string) []byte { return slices.Clone(p.files[name]) }

// kept is what a Restart repeats of the person's words. Behind -- are no flags.
func (p Preset) kept(words []string) []string {
	var kept []string
	for i := 0; i < len(words) && words[i] != "--"; i++ {
		flag, _, joined := strings.Cut(words[i], "=")
		switch {
		case slices.Contains(p.Switches, words[i]), joined && slices.Contains(p.Flags, flag):
			kept = append(kept, words[i])
		case slices.Contains(p.Flags, words[i]) && i+1 < len(words):
			kept = append(kept, words[i], words[i+1])
			i++
		}
	}
	return kept
}

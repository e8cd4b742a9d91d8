package claude

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
)

// Words is what a person gave for claude, taken apart. The zero value is of a person who gave nothing.
type Words struct {
	Prompt string // the first prompt; of the first start alone
	// Resume is the conversation that the session is to go on with, a lower-case UUID, and Fork that it goes on with a
	// copy; SessionID is the id that a new conversation, or the copy, is to have. Empty where nothing was said.
	Resume, SessionID string
	Fork              bool
	Settings          string // the value of --settings, for ReadSettings; empty: none
	Screen            string // the value of --tui, ScreenDefault or ScreenFull; empty: nothing was said
	Silent            bool   // hooks are off, --bare or --safe-mode: there will be no event

	kept []words // the rest, in the order given
}

// The renderers that Claude Code has for its setting tui: the terminal's main screen, whose history tmux keeps, and the
// alternate screen.
const (
	ScreenDefault = "default"
	ScreenFull    = "fullscreen"
)

// words is a flag with its values, as they were given.
type words struct {
	name string // the long spelling
	text []string
}

// ParseWords takes apart what a person gives for claude, as claude itself would. It refuses with a UsageError what a
// session cannot have, and what claude would take for something else than it looks: a flag in place of a value, words that
// would be dropped, a value that might be the prompt.
func ParseWords(args []string) (Words, error) {
	var w Words
	for _, arg := range args {
		if strings.Contains(arg, "\x00") {
			return Words{}, hitchpost.Errorf(hitchpost.UsageError, "a word for a program cannot hold a NUL byte")
		}
	}
	var plain []string
	for len(args) > 0 {
		arg := args[0]
		switch {
		case arg == "--":
			plain, args = append(plain, args[1:]...), nil
			continue
		case !dashed(arg):
			plain, args = append(plain, arg), args[1:]
			continue
		}
		n, err := w.take(args)
		if err != nil {
			return Words{}, err
		}
		args = args[n:]
	}
	if err := w.setPrompt(plain); err != nil {
		return Words{}, err
	}
	if err := w.check(); err != nil {
		return Words{}, err
	}
	return w, nil
}

// dashed reports whether claude takes a word for a flag rather than for a value or a prompt.
func dashed(word string) bool { return len(word) > 1 && word[0] == '-' }

// likeFlag is a word that has the look of a flag, where claude would not take it for one.
var likeFlag = regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9-]*(=|$)`)

func refused(format string, args ...any) *hitchpost.Error {
	return hitchpost.Errorf(hitchpost.UsageError, format, args...)
}

// take reads the flag that args begin with and its values, and says how many words that was.
func (w *Words) take(args []string) (int, error) {
	name, value, attached, known := spelled(args[0])
	f := flags[name]
	n := 1
	var values []string
	next := func() bool { return n < len(args) && !dashed(args[n]) }
	switch {
	case f.refusal != "":
		return 0, refused("claude cannot be given %s in a session (%s)", name, f.refusal).Hinted("%s", f.instead)
	case !known && !attached && next():
		return 0, refused("%q is not known here, and %s may be its value or the prompt", name, quoted(args[n])).
			Hinted("write %s=VALUE, or put the prompt behind --", hitchpost.OneLine(name))
	case known && attached && f.takes == none:
		return 0, refused("%s takes no value", name).Hinted("leave out %s", quoted(value))
	case attached:
		values = []string{value}
	case f.takes == one || f.takes == many:
		if n == len(args) || args[n] == "--" || likeFlag.MatchString(args[n]) {
			return 0, refused("%s has no value", name).Hinted("write %s=VALUE", name)
		}
		for n++; f.takes == many && next(); {
			n++
		}
		values = args[1:n]
	case f.takes == optional && next():
		n++
		values = args[1:n]
	}
	return n, w.keep(name, values, args[:n])
}

// spelled takes a flag as it was typed apart: its long spelling, and the value where it is in the same word.
func spelled(arg string) (name, value string, attached, known bool) {
	if !strings.HasPrefix(arg, "--") {
		if long, ok := short[arg]; ok {
			return long, "", false, true
		}
		if long, ok := short[arg[:2]]; ok {
			return long, arg[2:], true, true
		}
		return arg, "", false, false
	}
	name, value, attached = strings.Cut(arg, "=")
	_, known = flags[name]
	return name, value, attached, known
}

// keep puts a flag where it belongs: of those that the plan of a run gives itself, the last counts, as with claude.
func (w *Words) keep(name string, values, text []string) error {
	value := ""
	if len(values) > 0 {
		value = values[0]
	}
	switch name {
	case "--resume":
		if w.Resume = conversationID(value); w.Resume == "" {
			return refused("--resume names no conversation by its id, and claude would ask which is meant").
				Hinted("give the id, a UUID such as `claude --resume` shows behind a conversation's end")
		}
	case "--session-id":
		if w.SessionID = conversationID(value); w.SessionID == "" {
			return refused("%s is not a UUID, which --session-id needs", quoted(value)).
				Hinted("leave it out: every session gets an id of its own")
		}
	case "--fork-session":
		w.Fork = true
	case "--settings":
		w.Settings = value
	case "--tui":
		if value != ScreenDefault && value != ScreenFull {
			return refused("%s is no renderer of claude", quoted(value)).
				Hinted("write --tui %s or --tui %s", ScreenDefault, ScreenFull)
		}
		w.Screen = value
	default:
		w.Silent = w.Silent || name == "--bare" || name == "--safe-mode"
		w.kept = append(w.kept, words{name, text})
	}
	return nil
}

func (w *Words) setPrompt(plain []string) error {
	var said []string
	for _, word := range plain {
		if word != "" {
			said = append(said, word)
		}
	}
	switch {
	case len(said) == 0:
		return nil
	case isCommand(said[0]):
		return refused("claude takes %q for a command of its own, which is no conversation", said[0]).
			Hinted("%s, or put more words into the prompt", runIt)
	case len(said) > 1:
		return refused("claude takes one word as the prompt and would drop %s", quoted(said[1])).
			Hinted("quote the whole prompt, and put it behind --")
	case likeFlag.MatchString(said[0]):
		return refused("claude may take the prompt %s for a flag", quoted(said[0])).
			Hinted("begin it with another character than a dash")
	}
	w.Prompt = said[0]
	return nil
}

// check refuses what does not go together.
func (w *Words) check() error {
	switch {
	case w.Fork && w.Resume == "":
		return refused("--fork-session names no conversation to copy").Hinted("%s", nameIt)
	case w.Resume != "" && w.SessionID != "" && !w.Fork:
		return refused("--resume and --session-id name two conversations").
			Hinted("leave out one, or add --fork-session to go on with a copy under the other id")
	case w.Fork && w.Resume == w.SessionID:
		return refused("a copy of a conversation cannot have the same id").Hinted("leave out --session-id")
	}
	return nil
}

// conversationID is the id of a conversation as Claude Code writes it, or nothing where the text is none.
func conversationID(text string) string {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != len(id.String()) {
		return ""
	}
	return id.String()
}

// IsConversation reports whether a text is the id of a conversation as Claude Code writes it, a lower-case UUID.
func IsConversation(text string) bool { return text != "" && conversationID(text) == text }

// quoted is a word in quotes for a message, cut where it is long.
func quoted(word string) string {
	if r := []rune(word); len(r) > 40 {
		word = string(r[:40]) + "…"
	}
	return strconv.Quote(word)
}

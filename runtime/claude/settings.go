package claude

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/hitchpost/hitchpost"
)

// settingsLimit is the size that a person's settings may have, in bytes; Claude Code's own are a few kilobytes.
const settingsLimit = 1 << 20

// hookPatience is how long Claude Code waits for a hook of ours, in seconds. It holds a turn for as long.
const hookPatience = 5

// byteOrderMark begins what some editors save, and is no part of it.
var byteOrderMark = []byte("\ufeff")

// Ours is what a session adds to the settings of a person.
type Ours struct {
	Hook    []string // the program that each hook runs, absolute, and its words
	Version string   // of the Claude Code that will read the settings
	Screen  string   // Words.Screen
}

// ReadSettings gives the settings that a value of --settings stands for: the JSON itself, or a file's, relative to the
// directory dir. No value gives none.
//
// Errors: UsageError, with what is wrong with the file.
func ReadSettings(value, dir string) ([]byte, error) {
	if t := strings.TrimSpace(value); t == "" || strings.HasPrefix(t, "{") && strings.HasSuffix(t, "}") {
		return []byte(t), nil
	}
	path := value
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	data, err := readSettings(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err := refused("the settings file %s does not exist", quoted(value))
		return nil, err.Hinted("check --settings: a relative path is meant from the session's directory")
	case err != nil:
		err := refused("the settings file %s cannot be read: %w", quoted(value), reason(err))
		return nil, err.Hinted("give --settings a readable file of less than %d bytes, or JSON", settingsLimit)
	}
	return data, nil
}

// readSettings reads a file of settings, which may well be a link to where somebody keeps such files.
func readSettings(path string) ([]byte, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	data, _, err := readRegular(path, settingsLimit)
	return data, err
}

// MergeSettings puts the settings of a person, as ReadSettings gave them, and what a session adds into one document,
// since Claude Code reads the last --settings alone. The person's hooks come first; all that a session does not set stays
// as it was written, numbers to the digit. Of a name that is there twice the last counts, as everywhere in JSON.
//
// Errors: UsageError for what is not a JSON object, and for hooks that are not lists by event; FailedError for a program
// of ours whose name JSON cannot hold.
func MergeSettings(theirs []byte, o Ours) ([]byte, error) {
	if command := shellWords(o.Hook); !utf8.ValidString(command) || strings.Contains(command, "\x00") {
		return nil, hitchpost.Errorf(hitchpost.FailedError, "Claude Code cannot be given hooks that run %q", o.Hook[0]).
			Hinted("run hitchpost from a path that is UTF-8")
	}
	theirs = bytes.TrimSpace(bytes.TrimPrefix(theirs, byteOrderMark))
	if len(theirs) > settingsLimit {
		return nil, refused("the settings are longer than %d bytes", settingsLimit).Hinted("give fewer with --settings")
	}
	if len(theirs) == 0 {
		theirs = []byte("{}")
	}
	all, err := object(theirs, "the settings")
	if err != nil {
		return nil, err
	}
	hooks := map[string]json.RawMessage{}
	if raw, ok := all["hooks"]; ok && string(raw) != "null" {
		if hooks, err = object(raw, "hooks in the settings"); err != nil {
			return nil, err
		}
	}
	for _, e := range eventsOf(o.Version) {
		if hooks[e.name], err = appended(hooks[e.name], e, o.Hook); err != nil {
			return nil, err
		}
	}
	set := map[string]any{"hooks": hooks}
	if atLeast(o.Version, agentViewSince) {
		set["disableAgentView"] = true
	}
	if screen := screenOf(o.Screen, all["tui"]); screen != "" && atLeast(o.Version, tuiSince) {
		set["tui"] = screen
	}
	for name, value := range set {
		if all[name], err = encode(value); err != nil {
			return nil, err
		}
	}
	return encode(all)
}

// screenOf is the renderer to set: what the person said, or else the main screen, whose history tmux keeps. It is empty
// where the person's settings have a renderer already.
func screenOf(said string, theirs json.RawMessage) string {
	if said == "" && len(theirs) > 0 && string(theirs) != "null" {
		return ""
	}
	if said == "" {
		return ScreenDefault
	}
	return said
}

// hookEvent is an event of Claude Code that a session hears of.
type hookEvent struct {
	name    string
	since   string // the first version that knows it, as far as is known; another opens a dialog about it
	matcher string // what it is about: tools have names
}

func eventsOf(version string) []hookEvent {
	all := []hookEvent{
		{name: HookSessionStart}, {name: HookSessionEnd}, {name: HookUserPromptSubmit}, {name: HookStop},
		{name: HookStopFailure, since: "2.1.78"},
		{name: HookNotification},
		{name: HookPreToolUse, matcher: "*"}, {name: HookPostToolUse, matcher: "*"},
		{name: HookPostToolUseFailure, since: "2.1.119", matcher: "*"},
		{name: HookPermissionRequest, matcher: "*"},
	}
	known := all[:0]
	for _, e := range all {
		if e.since == "" || atLeast(version, e.since) {
			known = append(known, e)
		}
	}
	return known
}

const (
	agentViewSince = "2.1.139"
	tuiSince       = "2.1.110"
)

// appended is the list of an event's hooks with ours at its end.
func appended(theirs json.RawMessage, e hookEvent, hook []string) (json.RawMessage, error) {
	var list []json.RawMessage
	if len(theirs) > 0 {
		if err := json.Unmarshal(theirs, &list); err != nil {
			return nil, refused("hooks.%s in the settings is not a list", e.name).Hinted("give a list, as Claude Code asks for")
		}
	}
	type command struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	ours, err := encode(struct {
		Matcher string    `json:"matcher,omitempty"`
		Hooks   []command `json:"hooks"`
	}{e.matcher, []command{{"command", shellWords(hook), hookPatience}}})
	if err != nil {
		return nil, err
	}
	return encode(append(list, ours))
}

// shellWords is a command for a shell that runs a program with exactly these words. Claude Code also has a form without a
// shell, but not in every version.
func shellWords(argv []string) string {
	out := make([]string, 0, len(argv))
	for _, word := range argv {
		out = append(out, "'"+strings.ReplaceAll(word, "'", `'\''`)+"'")
	}
	return strings.Join(out, " ")
}

// object reads a JSON object; what tells in an error which one.
func object(data []byte, what string) (map[string]json.RawMessage, error) {
	var m map[string]json.RawMessage
	err := json.Unmarshal(data, &m)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		before := data[:min(max(syntax.Offset-1, 0), int64(len(data)))]
		line := bytes.Count(before, []byte("\n")) + 1
		column := len(before) - bytes.LastIndexByte(before, '\n')
		return nil, refused("%s are not JSON: line %d, column %d: %w", what, line, column, syntax).
			Hinted("mend what --settings gives")
	case err != nil || m == nil:
		return nil, refused("%s are not a JSON object", what).Hinted("mend what --settings gives")
	}
	return m, nil
}

// encode writes JSON without changing what it is given raw.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

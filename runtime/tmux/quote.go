package tmux

import "strings"

// command is one tmux command: its name and its words, not yet quoted.
type command []string

// line writes commands as one line for a control client, where each word means just itself. It cannot hold a NUL.
func line(cmds []command) string {
	var b strings.Builder
	for i, c := range cmds {
		if i > 0 {
			b.WriteString(" ; ")
		}
		for j, word := range c {
			if j > 0 {
				b.WriteByte(' ')
			}
			quote(&b, word)
		}
	}
	return b.String()
}

// quote writes word for tmux's own parser (tmux(1), PARSING SYNTAX). Between single quotes all is literal, but a line
// end would end the command; double quotes know \n and need \, ", $ and ~ escaped.
func quote(b *strings.Builder, word string) {
	if !strings.ContainsAny(word, "\n\r'") {
		b.WriteByte('\'')
		b.WriteString(word)
		b.WriteByte('\'')
		return
	}
	b.WriteByte('"')
	for i := range len(word) {
		switch c := word[i]; c {
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '"', '\\', '$', '~':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
}

// literal makes text mean itself where tmux expands a format.
func literal(text string) string { return strings.ReplaceAll(text, "#", "##") }

// What the names of our tmux sessions begin with, before an id: those of sessions, and those of tasks.
const (
	namePrefix = "hp-"
	taskPrefix = "hpt-"
)

// lobby is the session in which clients wait.
const lobby = "lobby"

// target is the exact target of one of our sessions; "" for what is no id of ours. Without "=" tmux matches prefixes
// and window names, without ":" commands for panes do not match at all.
func target(session string) string { return exactly(namePrefix, session) }

func exactly(prefix, id string) string {
	if !validID(id) {
		return ""
	}
	return "=" + prefix + id + ":"
}

func validID(session string) bool {
	if session == "" || len(session) > 64 {
		return false
	}
	for _, c := range []byte(session) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return true
}

package sshd

import "strings"

// The bounds of what a client may set. A variable beyond them is refused and the session goes on without it.
const (
	maxVariables     = 64
	maxVariableBytes = 4096
	maxEnvironment   = 32 << 10 // bytes of all names and values together
)

// environment is what the client has set for a session, in the order in which it was set.
type environment struct {
	names  []string
	values map[string]string
	bytes  int
}

// set takes a variable, in the place of an earlier one of the same name. It is false for one that is refused.
func (e *environment) set(name, value string) bool {
	if !accepted(name) || len(name)+len(value) > maxVariableBytes || strings.ContainsFunc(value, control) {
		return false
	}
	old, have := e.values[name]
	bytes := e.bytes + len(value) - len(old)
	if !have {
		bytes += len(name)
		if len(e.names) >= maxVariables {
			return false
		}
	}
	if bytes > maxEnvironment {
		return false
	}
	if !have {
		if e.values == nil {
			e.values = map[string]string{}
		}
		e.names = append(e.names, name)
	}
	e.values[name] = value
	e.bytes = bytes
	return true
}

// value is that of name, or empty.
func (e *environment) value(name string) string { return e.values[name] }

// list is the variables as NAME=value.
func (e *environment) list() []string {
	out := make([]string, 0, len(e.names))
	for _, n := range e.names {
		out = append(out, n+"="+e.values[n])
	}
	return out
}

// accepted tells whether a client may set the variable called name. Everything else could change what programs do. Those
// of our own are
//
//	HITCHPOST_CLIENT     an id that `hitchpost connect` makes, the same for all its connections
//	HITCHPOST_RECONNECT  1: this client has lost its connection and comes back. Its terminal is cleared before the
//	                     replay, and without a command it goes straight into the session that it was in last
//	HITCHPOST_CLEAR      always or never: overrides when the terminal is cleared
//	HITCHPOST_PLAIN      1: the picker does not draw
func accepted(name string) bool {
	switch name {
	case "TERM", "COLORTERM", "LANG", "NO_COLOR":
		return true
	}
	rest, ok := strings.CutPrefix(name, "LC_")
	if !ok {
		rest, ok = strings.CutPrefix(name, "HITCHPOST_")
	}
	return ok && rest != "" && !strings.ContainsFunc(rest, func(r rune) bool {
		return r != '_' && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	})
}

func control(r rune) bool { return r < ' ' || r == 0x7f }

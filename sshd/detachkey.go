package sshd

import "github.com/hitchpost/hitchpost"

// DetachKey is the key that leaves a session. The zero value is Ctrl-].
type DetachKey struct {
	char byte // the character typed together with Ctrl, lower case; 0 stands for ']'
}

// ParseDetachKey reads a key in the notation C-x or ^x, where x is a letter or one of @ \ ] ^ _.
func ParseDetachKey(text string) (DetachKey, error) {
	var rest string
	switch {
	case len(text) == 3 && (text[:2] == "C-" || text[:2] == "c-"):
		rest = text[2:]
	case len(text) == 2 && text[0] == '^':
		rest = text[1:]
	default:
		return DetachKey{}, badDetachKey(text)
	}
	c := rest[0]
	if c >= 'A' && c <= 'Z' {
		c += 'a' - 'A'
	}
	switch {
	case c == 'm', c == 'j', c == 'i', c == 'h':
		// These are Enter, line feed, Tab and Backspace on the wire.
		return DetachKey{}, badDetachKey(text)
	case c >= 'a' && c <= 'z', c == '@', c == '\\', c == ']', c == '^', c == '_':
		return DetachKey{char: c}, nil
	}
	return DetachKey{}, badDetachKey(text)
}

func badDetachKey(text string) error {
	return hitchpost.Errorf(hitchpost.UsageError, "%q is not a key that can detach", text).
		Hinted("write it like C-] or C-a; Enter, Tab, Backspace and Escape cannot be used")
}

// letter is the character typed together with Ctrl.
func (k DetachKey) letter() byte {
	if k.char == 0 {
		return ']'
	}
	return k.char
}

// control is the byte that the key sends on its own.
func (k DetachKey) control() byte { return k.letter() & 0x1f }

// String is the key as people write it.
func (k DetachKey) String() string { return "C-" + string(rune(k.letter())) }

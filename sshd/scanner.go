package sshd

import (
	"bytes"
	"strconv"
	"time"
)

// How long the start of a sequence that may be the detach key is held back. A bare Escape is a key of its own, and
// people notice a delay of it; nobody types the rest by hand.
const (
	holdEscape   = 15 * time.Millisecond
	holdSequence = 100 * time.Millisecond
)

// maxSequence is the longest key sequence that is looked at; a longer one is none of ours.
const maxSequence = 48

// scanner finds the detach key in what a person types. The key comes as a control byte, as `ESC [ 93 ; 5 u` from
// terminals that speak the kitty keyboard protocol or CSI-u, or as `ESC [ 27 ; 5 ; 93 ~` from xterm's modifyOtherKeys,
// and in as many pieces as the network likes. What is pasted in brackets is never taken for it.
//
// The scanner does nothing but look: everything goes to emit untouched and in order, except the key itself.
type scanner struct {
	key   DetachKey
	paste bool
	part  [maxSequence]byte // the start of a sequence, from the end of the last piece
	n     int               // bytes in part
	sent  int               // bytes of part that were emitted already
}

// scan looks at p and emits what goes to the session. It returns how many bytes of p it is done with, which is all
// unless the key was found, and whether that was so.
func (s *scanner) scan(p []byte, emit func([]byte)) (int, bool) {
	start, i := 0, 0
	if s.n > 0 {
		k, found := s.resume(p, emit)
		if found || k == len(p) {
			return k, found
		}
		start, i = k, k
	}
	for i < len(p) {
		c := p[i]
		if c == s.key.control() && !s.paste {
			s.pass(p[start:i], emit)
			return i + 1, true
		}
		if c != escape {
			i++
			continue
		}
		n, what := s.match(p[i:])
		switch what {
		case isPart:
			s.n, s.sent = copy(s.part[:], p[i:]), 0
			if s.paste {
				// No key hides in here: hold back nothing, but remember the start of what may end the paste.
				s.sent = s.n
				i = len(p)
			}
			s.pass(p[start:i], emit)
			return len(p), false
		case isKey:
			s.pass(p[start:i], emit)
			return i + n, true
		}
		s.note(what)
		i += n
	}
	s.pass(p[start:], emit)
	return len(p), false
}

// resume goes on with a sequence whose start came earlier. It returns how many bytes of p it is done with.
func (s *scanner) resume(p []byte, emit func([]byte)) (int, bool) {
	had := s.n
	added := copy(s.part[s.n:], p)
	whole := s.part[:had+added]
	n, what := s.match(whole)
	if what == isPart {
		s.n = len(whole)
		if s.paste {
			s.pass(s.part[s.sent:s.n], emit)
			s.sent = s.n
		}
		return added, false
	}
	sent := s.sent
	s.n, s.sent = 0, 0
	if what == isKey {
		return n - had, true
	}
	s.note(what)
	n = max(n, had) // an Escape that begins nothing
	s.pass(whole[sent:n], emit)
	return n - had, false
}

// held is how long what is held back may wait for more; zero where nothing is held back.
func (s *scanner) held() time.Duration {
	switch {
	case s.sent >= s.n:
		return 0
	case s.n == 1:
		return holdEscape
	default:
		return holdSequence
	}
}

// flush emits what is held back. Should the rest of a sequence come after all it is still seen for what it is.
func (s *scanner) flush(emit func([]byte)) {
	s.pass(s.part[s.sent:s.n], emit)
	s.sent = s.n
}

func (s *scanner) pass(p []byte, emit func([]byte)) {
	if len(p) > 0 {
		emit(p)
	}
}

func (s *scanner) note(what sequence) {
	switch what {
	case isPasteStart:
		s.paste = true
	case isPasteEnd:
		s.paste = false
	}
}

// sequence is what an escape sequence is to the scanner.
type sequence int

const (
	isOther sequence = iota
	isPart           // the start of what may be one of the others
	isKey
	isPasteStart
	isPasteEnd
)

const escape = 0x1b

// match looks at b, which starts with ESC: how long the sequence is, and what it is.
func (s *scanner) match(b []byte) (int, sequence) {
	if len(b) == 1 {
		return 1, isPart
	}
	if b[1] != '[' {
		if b[1] == s.key.control() && !s.paste {
			return 2, isKey // with Alt or Meta held down too
		}
		return 1, isOther
	}
	for i := 2; i < len(b); i++ {
		c := b[i]
		if c >= '0' && c <= '9' || c == ';' || c == ':' {
			if i+1 >= maxSequence {
				return i + 1, isOther
			}
			continue
		}
		return s.classify(b[:i+1])
	}
	return len(b), isPart
}

// classify tells what a whole sequence is that has only numbers between ESC [ and its last byte.
func (s *scanner) classify(b []byte) (int, sequence) {
	last := len(b) - 1
	params := b[2:last]
	if b[last] == escape {
		return last, isOther // the next sequence begins here
	}
	switch {
	case b[last] == '~' && bytes.Equal(params, []byte("201")):
		return len(b), isPasteEnd
	case s.paste:
	case b[last] == '~' && bytes.Equal(params, []byte("200")):
		return len(b), isPasteStart
	case b[last] == 'u' && s.isCSIu(params), b[last] == '~' && s.isModifyOtherKeys(params):
		return len(b), isKey
	case b[last] == s.key.control():
		return last, isOther // a torn sequence, then the key
	}
	return len(b), isOther
}

// isCSIu reads `code:shifted:base ; modifiers:event ; text` (kitty keyboard protocol, "An overview").
func (s *scanner) isCSIu(params []byte) bool {
	keys, rest, _ := bytes.Cut(params, []byte{';'})
	mods, _, _ := bytes.Cut(rest, []byte{';'})
	code, alternates, _ := bytes.Cut(keys, []byte{':'})
	_, base, _ := bytes.Cut(alternates, []byte{':'})
	modifiers, event, _ := bytes.Cut(mods, []byte{':'})
	const released = "3"
	return (s.isLetter(code) || s.isLetter(base)) && controlOnly(modifiers) && string(event) != released
}

// isModifyOtherKeys reads `27 ; modifiers ; code` (xterm control sequences, "modifyOtherKeys").
func (s *scanner) isModifyOtherKeys(params []byte) bool {
	kind, rest, _ := bytes.Cut(params, []byte{';'})
	modifiers, code, _ := bytes.Cut(rest, []byte{';'})
	return string(kind) == "27" && controlOnly(modifiers) && s.isLetter(code)
}

func (s *scanner) isLetter(code []byte) bool {
	n, err := strconv.Atoi(string(code))
	if err != nil {
		return false
	}
	letter := int(s.key.letter())
	return n == letter || letter >= 'a' && letter <= 'z' && n == letter-('a'-'A')
}

// controlOnly tells whether Ctrl is held down, and of the others at most the two locks. The number is one more than
// the bits.
func controlOnly(modifiers []byte) bool {
	const ctrl, capsLock, numLock = 4, 64, 128
	n, err := strconv.Atoi(string(modifiers))
	return err == nil && (n-1)&^(capsLock|numLock) == ctrl
}

package tmux

import "bytes"

// startModes picks out of what a tmux client wrote while it was parked the sequences that set a mode of the terminal
// and that tmux will not send again, such as application cursor keys, focus reports and modified keys. The terminal
// that gets this client later must be sent them: tmux believes that it has them.
//
// Picked are CSI with a private marker that end in h, l, m or u, and ESC = and ESC >. All else draws, moves or asks.
// The brackets of synchronized updates are left out.
func startModes(written []byte) []byte {
	var modes []byte
	for len(written) > 0 {
		i := bytes.IndexByte(written, 0x1b)
		if i < 0 || i+1 >= len(written) {
			break
		}
		written = written[i:]
		n := sequence(written)
		if seq := written[:n]; setsMode(seq) {
			modes = append(modes, seq...)
		}
		written = written[n:]
	}
	return modes
}

func setsMode(seq []byte) bool {
	if len(seq) == 2 {
		return seq[1] == '=' || seq[1] == '>'
	}
	if len(seq) < 4 || seq[1] != '[' || seq[2] < '<' || seq[2] > '?' || bytes.HasPrefix(seq, []byte("\x1b[?2026")) {
		return false
	}
	switch seq[len(seq)-1] {
	case 'h', 'l', 'm', 'u':
		return true
	}
	return false
}

// sequence is the length of the escape sequence that b begins with (ECMA-48 5.3 to 5.6); at least 1. One that is cut
// is as long as b.
func sequence(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
		}
		return len(b)
	case ']', 'P', '_', '^', 'X', 'k':
		for i := 2; i < len(b); i++ {
			if b[i] == 0x07 && b[1] == ']' {
				return i + 1
			}
			if b[i] == 0x1b && i+1 < len(b) && b[i+1] == '\\' {
				return i + 2
			}
		}
		return len(b)
	}
	i := 1
	for i < len(b)-1 && b[i] >= 0x20 && b[i] <= 0x2f {
		i++
	}
	return i + 1
}

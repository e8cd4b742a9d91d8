package menu

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// A Bubble Tea program that reads by itself keeps one read going and decodes whole chunks: what stands behind the key
// that ends it is lost, and so is the first key after it. It also asks the terminal for its abilities, and an answer
// that comes late is typed into whatever reads next. So the program runs without an input, which turns off every
// query, and keyboard decodes one key at a time: the next one waits until the model has dealt with the one before.

// deliver gives one event to the model and waits until it was dealt with. used is false when the model did not take
// it, because it had ended before; ended is true when it takes no more.
type deliver func(ev tea.Msg) (used, ended bool)

// escapeWait is how long an escape byte waits for the rest of a sequence before it is the escape key.
const escapeWait = 50 * time.Millisecond

// pasteWait is how long a paste may be silent before its end is taken as lost.
const pasteWait = time.Second

const (
	pasteStart = "\x1b[200~" // XTerm control sequences, "Bracketed Paste Mode"
	pasteEnd   = "\x1b[201~"
	pasteMost  = 64 << 10 // bytes of one paste that are kept
	oddMost    = 4 << 10  // bytes of one escape sequence before it is given up
)

// keyboard turns the bytes of an Input into events.
type keyboard struct {
	in      Input
	deliver deliver
	log     *slog.Logger
	decoder uv.EventDecoder
	buf     []byte // read and not used
	skip    bool   // the rest of a paste that is too long passes by
}

// run delivers keys until the model has ended, stop is closed, the input ends or there is a fault in the reading or
// decoding of it; the last two give an error. Then it hands back what was not used. Nothing reads the input when it
// returns.
func (k *keyboard) run(stop <-chan struct{}) error {
	chunks := make(chan []byte)
	var readErr error
	go func() {
		defer close(chunks)
		readErr = guarded(k.log, func() error { return k.read(chunks) })
	}()
	gone := false
	err := guarded(k.log, func() error {
		gone = k.loop(chunks, stop)
		return nil
	})
	k.in.Interrupt()
	for chunk := range chunks {
		k.buf = append(k.buf, chunk...)
	}
	if len(k.buf) > 0 {
		k.in.Unread(k.buf)
	}
	switch {
	case err != nil || !gone:
		return err
	case errors.Is(readErr, io.EOF):
		return io.EOF
	default:
		return readErr
	}
}

// read gives what the input holds until that ends, and returns why it did.
func (k *keyboard) read(chunks chan<- []byte) error {
	for {
		b := make([]byte, 1024)
		n, err := k.in.Read(b)
		if n > 0 {
			chunks <- b[:n]
		}
		if err != nil {
			return err
		}
	}
}

// loop reports whether it ended because the input did.
func (k *keyboard) loop(chunks <-chan []byte, stop <-chan struct{}) (gone bool) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if k.events(false) {
			return false
		}
		var expired <-chan time.Time
		if len(k.buf) > 0 || k.skip {
			timer.Reset(k.patience())
			expired = timer.C
		}
		select {
		case <-stop:
			return false
		case chunk, ok := <-chunks:
			if !ok {
				return !k.events(true)
			}
			k.buf = append(k.buf, chunk...)
		case <-expired:
			k.skip = false
			if k.events(true) {
				return false
			}
		}
	}
}

func (k *keyboard) patience() time.Duration {
	if k.skip || bytes.HasPrefix(k.buf, []byte(pasteStart)) {
		return pasteWait
	}
	return escapeWait
}

// events delivers each whole event at the start of what was read, and reports whether the model has ended.
func (k *keyboard) events(expired bool) (ended bool) {
	for len(k.buf) > 0 {
		n, ev := k.next(k.buf, expired)
		if n == 0 {
			return false
		}
		used := true
		if ev != nil {
			used, ended = k.deliver(ev)
		}
		if used {
			k.buf = k.buf[n:]
		}
		if !used || ended {
			return ended
		}
	}
	return false
}

// next is the event at the start of buf and the bytes that it takes; 0 when more are needed to know. An event that
// means nothing to the picker is nil.
func (k *keyboard) next(buf []byte, expired bool) (int, tea.Msg) {
	if k.skip {
		return k.skipPaste(buf)
	}
	if bytes.HasPrefix(buf, []byte(pasteStart)) {
		return k.paste(buf, expired)
	}
	if !expired && !whole(buf) {
		return 0, nil
	}
	n, ev := k.decoder.Decode(buf)
	if press, ok := ev.(uv.KeyPressEvent); ok {
		return max(n, 1), tea.KeyPressMsg(press)
	}
	return max(n, 1), nil
}

// paste takes a whole bracketed paste, so that nothing in it works as a key.
func (k *keyboard) paste(buf []byte, expired bool) (int, tea.Msg) {
	body := buf[len(pasteStart):]
	if i := bytes.Index(body, []byte(pasteEnd)); i >= 0 {
		return len(pasteStart) + i + len(pasteEnd), tea.PasteMsg{Content: string(body[:min(i, pasteMost)])}
	}
	if len(body) > pasteMost {
		k.skip = true
		return len(buf) - partial(buf), tea.PasteMsg{Content: string(body[:pasteMost])}
	}
	if expired {
		return len(buf), tea.PasteMsg{Content: string(body)}
	}
	return 0, nil
}

func (k *keyboard) skipPaste(buf []byte) (int, tea.Msg) {
	if i := bytes.Index(buf, []byte(pasteEnd)); i >= 0 {
		k.skip = false
		return i + len(pasteEnd), nil
	}
	return len(buf) - partial(buf), nil
}

// partial is how many bytes at the end of buf may be the start of the end of a paste.
func partial(buf []byte) int {
	for n := min(len(pasteEnd)-1, len(buf)); n > 0; n-- {
		if bytes.HasSuffix(buf, []byte(pasteEnd[:n])) {
			return n
		}
	}
	return 0
}

// whole reports whether buf starts with a whole key or sequence.
func whole(buf []byte) bool {
	if buf[0] != ansi.ESC {
		return utf8.FullRune(buf)
	}
	if len(buf) == 1 {
		return false
	}
	switch buf[1] {
	case 'O': // SS3: one more byte
		return len(buf) > 2
	case '[':
		_, _, _, state := ansi.DecodeSequence(buf, ansi.NormalState, nil)
		return state == ansi.NormalState && len(buf) > 2 || len(buf) > oddMost
	case ']', 'P', '_', '^', 'X':
		return stringEnds(buf) || len(buf) > oddMost
	}
	return whole(buf[1:])
}

// stringEnds reports whether the control string at the start of buf has its end: ST, for an OSC also BEL, or one of
// the controls that abort it (ECMA-48 8.3.143; XTerm control sequences, "Operating System Commands").
func stringEnds(buf []byte) bool {
	for i := 2; i < len(buf); i++ {
		switch buf[i] {
		case ansi.ESC:
			return i+1 < len(buf)
		case ansi.CAN, ansi.SUB:
			return true
		case ansi.BEL:
			if buf[1] == ']' {
				return true
			}
		}
	}
	return false
}

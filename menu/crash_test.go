package menu

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// book keeps what is logged.
type book struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *book) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

func (b *book) log() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

// told checks that a fault was made an error for the person and a line in the log.
func (b *book) told(t *testing.T, fault string, err error) {
	t.Helper()
	if hitchpost.KindOf(err) != hitchpost.FailedError || !strings.Contains(err.Error(), wordCrash) {
		t.Errorf("the error is %v", err)
	}
	if got := b.String(); !strings.Contains(got, fault) || !strings.Contains(got, "stack=") {
		t.Errorf("the log has no %q: %q", fault, got)
	}
}

// The clock is asked in Update.
func TestAFaultInUpdateEndsThePickerAlone(t *testing.T) {
	t.Parallel()
	b := &book{}
	var broken atomic.Bool
	s := sit(t, newFake(team()...), func(c *Config) {
		c.Log = b.log()
		c.Now = func() time.Time {
			if broken.Load() {
				panic("a fault in update")
			}
			return testNow
		}
	})
	s.see("docs")
	broken.Store(true)
	s.hand.press("jk")
	_, err := s.left()
	b.told(t, "a fault in update", err)
	if s.glass.vt.IsAltScreen() || s.glass.vt.CursorHidden() {
		t.Error("the terminal is not as it was")
	}
	if s.hand.reading != 0 {
		t.Errorf("%d reads still block", s.hand.reading)
	}
}

// faulty is a model that is broken in every part.
type faulty struct{ tea.Model }

func TestAFaultInAnyPartOfTheModelIsAnError(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]func(m tea.Model){
		"init": func(m tea.Model) { m.Init() }, "view": func(m tea.Model) { m.View() },
		"update": func(m tea.Model) { m.Update(tick{}) },
	} {
		b := &book{}
		var ended error
		use(guardedModel{faulty{}, b.log(), func(err error) { ended = err }})
		b.told(t, "nil pointer", ended)
		if t.Failed() {
			t.Fatal(name)
		}
	}
}

// torn is an Input that panics where it has nothing more.
type torn struct{ stream }

func (r *torn) Read(p []byte) (int, error) {
	n, err := r.stream.Read(p)
	if err != nil {
		panic("a fault in the input")
	}
	return n, nil
}

func TestAFaultInReadingIsAnError(t *testing.T) {
	t.Parallel()
	b := &book{}
	in := &torn{stream{Reader: strings.NewReader("jj")}}
	n := 0
	k := keyboard{in: in, log: b.log(), deliver: func(tea.Msg) (bool, bool) { n++; return true, false }}
	b.told(t, "a fault in the input", k.run(nil))
	if n != 2 {
		t.Errorf("%d keys were delivered", n)
	}
}

func TestAFaultInDecodingHandsBackTheInput(t *testing.T) {
	t.Parallel()
	b := &book{}
	in := &stream{Reader: strings.NewReader("jkx\r and more")}
	n := 0
	k := keyboard{in: in, log: b.log(), deliver: func(tea.Msg) (bool, bool) {
		if n++; n == 3 {
			panic("a fault at a key")
		}
		return true, false
	}}
	b.told(t, "a fault at a key", k.run(nil))
	if string(in.back) != "x\r and more" {
		t.Errorf("%q came back", in.back)
	}
}

// A fault in what feeds the picker ends it at once, though nobody types.
func TestAFaultInTheReaderEndsThePicker(t *testing.T) {
	t.Parallel()
	b := &book{}
	s := sit(t, newFake(team()...), func(c *Config) { c.Log = b.log() })
	s.see("docs")
	s.hand.mu.Lock()
	s.hand.broken = true
	s.hand.some.Broadcast()
	s.hand.mu.Unlock()
	_, err := s.left()
	b.told(t, "a fault in the hand", err)
	if s.glass.vt.IsAltScreen() || errors.Is(err, io.EOF) {
		t.Errorf("alternate screen %v, error %v", s.glass.vt.IsAltScreen(), err)
	}
}

package menu

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"

	"github.com/hitchpost/hitchpost"
)

// hand is an Input as the front door has one: what is typed waits until somebody reads it.
type hand struct {
	mu          sync.Mutex
	some        *sync.Cond
	buf         []byte
	interrupted bool
	gone        bool
	broken      bool
	reading     int // Reads that block now
}

func newHand() *hand {
	h := &hand{}
	h.some = sync.NewCond(&h.mu)
	return h
}

func (h *hand) Read(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reading++
	defer func() { h.reading-- }()
	for len(h.buf) == 0 && !h.interrupted && !h.gone && !h.broken {
		h.some.Wait()
	}
	if h.broken {
		panic("a fault in the hand")
	}
	if h.interrupted || len(h.buf) == 0 {
		return 0, io.EOF
	}
	n := copy(p, h.buf)
	h.buf = h.buf[n:]
	return n, nil
}

func (h *hand) Interrupt() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.interrupted = true
	h.some.Broadcast()
}

func (h *hand) Unread(p []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf = append(append([]byte(nil), p...), h.buf...)
}

func (h *hand) press(keys string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf = append(h.buf, wire(keys)...)
	h.some.Broadcast()
}

// next opens the stage after the menu and takes what waits there.
func (h *hand) next() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.interrupted = false
	s := string(h.buf)
	h.buf = nil
	return s
}

func (h *hand) hangUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gone = true
	h.some.Broadcast()
}

// glass is a terminal: it shows what it is sent, and keeps the bytes. Its answers to questions go back to the hand, as
// a real one's do.
type glass struct {
	mu    sync.Mutex
	vt    *vt.Emulator
	bytes []byte
	last  byte
}

func newGlass(t testing.TB, h *hand, size hitchpost.Size) *glass {
	t.Helper()
	g := &glass{vt: vt.NewEmulator(size.Cols, size.Rows)}
	var answers sync.WaitGroup
	answers.Go(func() {
		buf := make([]byte, 256)
		for {
			n, err := g.vt.Read(buf)
			if n > 0 {
				h.press(string(buf[:n]))
			}
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		if c, ok := g.vt.InputPipe().(io.Closer); ok {
			_ = c.Close() // ends the Read above
		}
		answers.Wait()
		_ = g.vt.Close() // races with a Read
	})
	return g
}

func (g *glass) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.bytes = append(g.bytes, p...)
	out := make([]byte, 0, 2*len(p))
	for _, b := range p { // ONLCR, as the front door has it
		if b == '\n' && g.last != '\r' {
			out = append(out, '\r')
		}
		out = append(out, b)
		g.last = b
	}
	if _, err := g.vt.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (g *glass) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var b strings.Builder
	for y := range g.vt.Height() {
		line := ""
		for x := 0; x < g.vt.Width(); x++ {
			if c := g.vt.CellAt(x, y); c != nil && c.Width > 0 {
				line += c.Content
				x += c.Width - 1
			} else {
				line += " "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

func (g *glass) sent() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return string(g.bytes)
}

// seat is a person in front of a running picker.
type seat struct {
	t     testing.TB
	hand  *hand
	glass *glass
	fake  *fake
	sizes chan hitchpost.Size
	stop  context.CancelCauseFunc
	done  chan struct{}
	got   Choice
	err   error
}

var desk = hitchpost.Size{Cols: 80, Rows: 24}

func sit(t testing.TB, f *fake, change func(c *Config)) *seat {
	t.Helper()
	c := Config{
		Actor: anna, Service: f, Terminal: hitchpost.Terminal{Name: "xterm-256color", Size: desk},
		Environ: []string{"COLORTERM=truecolor", "LANG=C.UTF-8"}, Now: func() time.Time { return testNow }, Home: "/home/anna",
	}
	if change != nil {
		change(&c)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	s := &seat{t: t, hand: newHand(), fake: f, sizes: make(chan hitchpost.Size), stop: stop, done: make(chan struct{})}
	s.glass = newGlass(t, s.hand, sized(c.Terminal.Size))
	c.In, c.Out, c.Sizes = s.hand, s.glass, s.sizes
	go func() {
		defer close(s.done)
		s.got, s.err = Run(ctx, c)
	}()
	t.Cleanup(func() {
		stop(context.Canceled)
		<-s.done
	})
	return s
}

// until waits for ok and prints the screen when it does not come.
func (s *seat) until(what string, ok func() bool) {
	s.t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for !ok() {
		select {
		case <-look.C:
		case <-limit.C:
			s.t.Fatalf("no %s; the screen is\n%s\nthe service was asked\n%s", what, s.glass.text(), s.fake.called())
		}
	}
}

func (s *seat) see(text string) {
	s.t.Helper()
	s.until("text "+text, func() bool { return strings.Contains(s.glass.text(), text) })
}

func (s *seat) notSee(text string) {
	s.t.Helper()
	s.until("end of text "+text, func() bool { return !strings.Contains(s.glass.text(), text) })
}

func (s *seat) asked(call string) {
	s.t.Helper()
	s.until("call "+call, func() bool { return strings.Contains(s.fake.called(), call) })
}

// left waits for the end of the picker.
func (s *seat) left() (Choice, error) {
	s.t.Helper()
	s.until("end", func() bool {
		select {
		case <-s.done:
			return true
		default:
			return false
		}
	})
	return s.got, s.err
}

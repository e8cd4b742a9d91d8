package sshd

import (
	"io"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// script is a view that reads as it is told. It keeps nothing.
type script struct {
	View
	reads []int // lengths of the reads to come, then EOF
	ready int   // bytes that ReadReady has after each read
	left  int
}

func (s *script) Read(p []byte) (int, error) {
	if len(s.reads) == 0 {
		return 0, io.EOF
	}
	n := min(len(p), s.reads[0])
	s.reads = s.reads[1:]
	s.left = s.ready
	return n, nil
}

func (s *script) ReadReady(p []byte) (int, error) {
	n := min(len(p), s.left, 4095)
	s.left -= n
	return n, nil
}

func (s *script) Write(p []byte) (int, error) { return len(p), nil }

// packets counts writes.
type packets struct{ sizes []int }

func (w *packets) Write(p []byte) (int, error) {
	w.sizes = append(w.sizes, len(p))
	return len(p), nil
}

func attachmentTo(w io.Writer, v View) *attachment {
	s := &session{id: &identity{actor: hitchpost.Actor{Role: hitchpost.Admin}}, out: newOutput(w)}
	return &attachment{
		s: s, view: v, left: make(chan struct{}),
		stall: newStallWatch(time.Minute, func() (uint64, bool, bool) { return 0, false, false }, nil),
	}
}

// Not parallel: the allocations of other tests would be counted.
func TestTheAttachPathDoesNotAllocate(t *testing.T) {
	v := &script{}
	a := attachmentTo(io.Discard, v)
	defer a.stall.stop()
	output := []byte("the echo of a key")
	if n := testing.AllocsPerRun(1000, func() { a.write(output) }); n != 0 {
		t.Errorf("%v allocations for a write", n)
	}
	for name, typed := range map[string]string{
		"a key": "k", "an arrow": "\x1b[A", "a paste": "\x1b[200~pasted\x1b[201~", "a mouse": "\x1b[<0;10;10M",
	} {
		p := []byte(typed)
		if n := testing.AllocsPerRun(1000, func() { a.take(p) }); n != 0 {
			t.Errorf("%v allocations for %s", n, name)
		}
	}
	in := newInput()
	in.push(a.take)
	key := []byte("k")
	if n := testing.AllocsPerRun(1000, func() { in.deliver(key) }); n != 0 {
		t.Errorf("%v allocations for a key on its way", n)
	}
}

func TestWhatIsReadyTravelsTogether(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reads []int
		ready int
		want  []int
	}{
		"an echo goes alone":       {[]int{5}, 100, []int{5}},
		"a line goes with others":  {[]int{400}, 9000, []int{9400}},
		"nothing else is ready":    {[]int{400}, 0, []int{400}},
		"a flood fills packets":    {[]int{1024}, 100_000, []int{32768, 32768, 32768, 2720}},
		"one after the other":      {[]int{5, 1024, 7}, 0, []int{5, 1024, 7}},
		"exactly one packet":       {[]int{1024}, 31744, []int{32768}},
		"one packet and one byte":  {[]int{1024}, 31745, []int{32768, 1}},
		"the first read is a full": {[]int{1024, 1024}, 1, []int{1025, 1025}},
	} {
		w := &packets{}
		a := attachmentTo(w, &script{reads: test.reads, ready: test.ready})
		a.show()
		a.stall.stop()
		if len(w.sizes) != len(test.want) {
			t.Errorf("%s: packets of %v, want %v", name, w.sizes, test.want)
			continue
		}
		for i := range w.sizes {
			if w.sizes[i] != test.want[i] {
				t.Errorf("%s: packets of %v, want %v", name, w.sizes, test.want)
				break
			}
		}
	}
}

package sshd

import (
	"bytes"
	"io"
	"testing"
)

// pipe is an input that reads from the returned writer.
func pipe(t *testing.T) (*input, *io.PipeWriter) {
	t.Helper()
	r, w := io.Pipe()
	in := newInput()
	done := make(chan struct{})
	go func() {
		defer close(done)
		in.run(r)
	}()
	t.Cleanup(func() {
		in.discard()
		w.Close()
		<-done
	})
	return in, w
}

func read(t *testing.T, r io.Reader, n int) string {
	t.Helper()
	buf := make([]byte, n)
	if _, err := io.ReadFull(r, buf); err != nil {
		t.Fatal(err)
	}
	return string(buf)
}

func TestInputIsHandedOnWithoutLoss(t *testing.T) {
	t.Parallel()
	in, w := pipe(t)
	go io.WriteString(w, "abcdef")
	first := in.open()
	if got := read(t, first, 2); got != "ab" {
		t.Fatalf("got %q", got)
	}
	first.Interrupt()
	if n, err := first.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("after Interrupt: %d, %v", n, err)
	}
	first.Unread([]byte("xy"))
	second := in.open()
	if n, err := first.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("the first reads in the turn of the second: %d, %v", n, err)
	}
	if got := read(t, second, 3); got != "xyc" {
		t.Errorf("got %q", got)
	}
	var pushed []byte
	in.push(func(p []byte) (int, bool) {
		pushed = append(pushed, p[:1]...)
		return 1, len(pushed) < 2
	})
	if string(pushed) != "de" {
		t.Errorf("the sink got %q", pushed)
	}
	if got := read(t, in.open(), 1); got != "f" {
		t.Errorf("got %q", got)
	}
}

func TestAnInterruptedReadTakesNothing(t *testing.T) {
	t.Parallel()
	in, w := pipe(t)
	first := in.open()
	ended := make(chan int)
	go func() {
		n, _ := first.Read(make([]byte, 10))
		ended <- n
	}()
	first.Interrupt()
	if n := <-ended; n != 0 {
		t.Errorf("it took %d bytes", n)
	}
	go io.WriteString(w, "k")
	if got := read(t, in.open(), 1); got != "k" {
		t.Errorf("got %q", got)
	}
}

func TestInputPushesBackWhereNobodyReads(t *testing.T) {
	t.Parallel()
	in, w := pipe(t)
	big := bytes.Repeat([]byte("0123456789"), 30_000)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		w.Write(big)
	}()
	r := in.open()
	got := make([]byte, 0, len(big))
	for len(got) < len(big) {
		in.mu.Lock()
		waiting := in.waiting()
		in.mu.Unlock()
		if waiting > maxBuffered {
			t.Fatalf("%d bytes are held", waiting)
		}
		got = append(got, read(t, r, 1000)...)
	}
	<-sent
	if !bytes.Equal(got, big) {
		t.Error("bytes were changed on the way")
	}
}

func TestInputEnds(t *testing.T) {
	t.Parallel()
	in, w := pipe(t)
	go func() {
		io.WriteString(w, "last")
		w.Close()
	}()
	<-in.ended
	got, err := io.ReadAll(in.open())
	if string(got) != "last" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestCooking(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	c := &cooked{w: &out}
	for _, p := range []string{"a\nb", "\r\n", "c\r", "\nd", "\n\n", "", "e"} {
		if n, err := c.Write([]byte(p)); n != len(p) || err != nil {
			t.Errorf("%q: %d, %v", p, n, err)
		}
	}
	if got := out.String(); got != "a\r\nb\r\nc\r\nd\r\n\r\ne" {
		t.Errorf("got %q", got)
	}
}

package sshd_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// Much output reaches the OpenSSH client whole while the keys of the connection are exchanged again and again, and the
// program is still heard of its keyboard.
func TestOutputSurvivesKeyExchanges(t *testing.T) {
	t.Parallel()
	const total, chunk = 48 << 20, 1 << 20
	s := serve(t, nil)
	s.service.add("web")
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	cmd := s.openSSH(ctx, "ssh", s.keyFile("alice"), "-v", "-tt", "-o", "RekeyLimit=1M", "localhost", "web")
	told := &logBook{}
	cmd.Stderr = told
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	v := <-s.service.made
	defer cmd.Wait()
	defer cmd.Process.Kill()
	line := []byte(strings.Repeat("0123456789abcdef", 64) + "\r\n") // 1026 bytes: no packet begins like another
	printing := make(chan struct{})
	go func() {
		defer close(printing)
		v.floods(string(bytes.Repeat(line, chunk/len(line))), total)
	}()
	got, buf := 0, make([]byte, 64<<10)
	for got < total {
		n, err := out.Read(buf)
		for i, b := range buf[:n] {
			if b != line[(got+i)%len(line)] {
				t.Fatalf("byte %d is wrong", got+i)
			}
		}
		if got += n; err != nil {
			t.Fatalf("%v after %d bytes\n%s", err, got, tail(told.String()))
		}
	}
	if _, err := io.WriteString(in, "\x03"); err != nil {
		t.Fatal(err)
	}
	until(t, "Ctrl-C is heard", func() bool { return strings.Contains(v.input(), "\x03") })
	<-printing
	if n := strings.Count(told.String(), "SSH2_MSG_NEWKEYS sent"); n < total/(2<<20) {
		t.Errorf("%d exchanges of keys only", n)
	}
}

// floods prints text again and again, at least total bytes, as fast as they are taken.
func (v *view) floods(text string, total int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for printed := 0; printed < total; <-tick.C {
		v.mu.Lock()
		waiting := len(v.output)
		v.mu.Unlock()
		if waiting < len(text) && !v.isClosed() {
			v.prints(text)
			printed += len(text)
		}
		if v.isClosed() {
			return
		}
	}
}

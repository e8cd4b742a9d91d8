package sshd

import (
	"io"
	"strings"
	"testing"
)

// A terminal that takes no output and types on, such as a letter and its erasure for ever, costs no more and no more.
func TestEchoDoesNotGrowWithoutEnd(t *testing.T) {
	t.Parallel()
	typed := newTypist(io.Discard, func() {})
	for range maxTyped {
		typed.take([]byte("xy\x7f\x7f"))
	}
	if len(typed.echo) > maxTyped+8 || len(typed.line) != 0 {
		t.Errorf("%d bytes of echo, %d of a line", len(typed.echo), len(typed.line))
	}
}

// Backspace takes off what one key has typed, however many bytes that was.
func TestBackspaceTakesAWholeLetter(t *testing.T) {
	t.Parallel()
	var screen strings.Builder
	typed := newTypist(&screen, func() {})
	typed.take([]byte("aé\x7f日\bb\r\x04"))
	typed.show()
	line, err := io.ReadAll(typed)
	if string(line) != "ab\n" || err != nil || screen.String() != "aé\b \b日\b \bb\n" {
		t.Errorf("read %q, %v; shown %q", line, err, screen.String())
	}
}

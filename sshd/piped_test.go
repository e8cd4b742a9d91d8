package sshd_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost/sshd"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// What a client has piped in before it went away is not taken for all of it: half a note must not be stored as one.
func TestInputOfAClientThatWentAwayHasNoEnd(t *testing.T) {
	t.Parallel()
	type read struct {
		text string
		err  error
	}
	got := make(chan read, 1)
	s := serve(t, func(cfg *sshd.Config) {
		cfg.Command = func(_ context.Context, call command.Invocation) int {
			text, err := io.ReadAll(call.Stdin)
			got <- read{string(text), err}
			return 0
		}
	})
	for name, c := range map[string]struct {
		leave func(*ssh.Client, *terminal) error
		want  error
	}{
		"all was sent": {func(_ *ssh.Client, tm *terminal) error { return tm.ch.CloseWrite() }, nil},
		"it went away": {func(c *ssh.Client, _ *terminal) error { return c.Close() }, io.ErrUnexpectedEOF},
	} {
		client := s.client("alice")
		tm := open(t, client)
		tm.ask("exec", text("cat"))
		if _, err := io.WriteString(tm.ch, "half"); err != nil {
			t.Fatal(err)
		}
		if err := c.leave(client, tm); err != nil {
			t.Fatal(err)
		}
		select {
		case r := <-got:
			if !errors.Is(r.err, c.want) || c.want == nil && r.text != "half" {
				t.Errorf("%s: %q, %v", name, r.text, r.err)
			}
		case <-time.After(patience):
			t.Fatalf("%s: the input has no end", name)
		}
	}
}

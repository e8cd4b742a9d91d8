package tmux

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/hitchpost/hitchpost"
)

func TestTailsOfManyInOneCall(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var ids []string
	for i := range 20 {
		id := uuid.NewString()
		script := fmt.Sprintf("n=0; while [ $n -lt 100 ]; do n=$((n+1)); echo \"%d:$n\"; done; read x", i)
		if _, err := s.Start(t.Context(), Start{Session: id, Command: []string{"sh", "-c", script}, Size: hitchpost.Size{Cols: 40, Rows: 10}}); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	for i, id := range ids {
		eventually(t, "the last line", func() bool {
			text, err := s.Capture(t.Context(), id, Capture{})
			return err == nil && strings.Contains(string(text), fmt.Sprintf("%d:100\n", i))
		})
	}
	tails, err := s.Tails(t.Context(), ids, 50)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		tail := tails[id]
		if got := strings.Count(string(tail.Screen), "\n"); got != 9 || !strings.HasSuffix(string(tail.Screen), fmt.Sprintf("%d:100\n", i)) {
			t.Errorf("screen of %d lines\n%s", got, tail.Screen)
		}
		if got := strings.Count(string(tail.All), "\n"); got != 59 || !strings.HasPrefix(string(tail.All), fmt.Sprintf("%d:42\n", i)) {
			t.Errorf("%d lines in all\n%s", got, tail.All)
		}
	}
	if _, err := s.Tails(t.Context(), append(ids, uuid.NewString()), 50); !errors.Is(err, ErrNoSession) {
		t.Errorf("one that is gone: %v", err)
	}
	left, err := os.ReadDir(s.program.layout.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasPrefix(f.Name(), bufferPrefix) {
			t.Errorf("left behind: %s", f.Name())
		}
	}
}

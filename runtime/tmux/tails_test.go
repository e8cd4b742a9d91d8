package tmux

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
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
	tails, err := s.Tails(t.Context(), ids, TailRows{All: 50, Styled: 20})
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
	if _, err := s.Tails(t.Context(), append(ids, uuid.NewString()), TailRows{50, 20}); !errors.Is(err, ErrNoSession) {
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

// Rows without styles and rows with them meet in the middle of a wrapped line and between lines, and none is lost or
// there twice, however long the history is.
func TestTailsJoinPlainAndStyled(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, lines := range []int{3, 12, 13, 14, 60, 200} {
		id := fmt.Sprintf("tail-%d", lines)
		script := fmt.Sprintf(`i=0; while [ $i -lt %d ]; do i=$((i+1)); printf '\033[3%%dm%%d:%%072d\033[m\n' $((i%%7+1)) $i $i; done; read x`, lines)
		start(t, s, id, hitchpost.Size{Cols: 40, Rows: 10}, "sh", "-c", script)
		waitFor(t, s, id, fmt.Sprintf("%d:", lines))
		for styled := range 30 {
			tails, err := s.Tails(t.Context(), []string{id}, TailRows{All: 50000, Styled: styled})
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSpace(ansi.Strip(string(tails[id].All))), "\n")
			for i, l := range got {
				if want := fmt.Sprintf("%d:%072d", i+1, i+1); strings.TrimRight(l, " ") != want {
					t.Fatalf("%d lines, %d rows styled: line %d is %q", lines, styled, i+1, l)
				}
			}
			if len(got) != lines {
				t.Errorf("%d lines, %d rows styled: got %d", lines, styled, len(got))
			}
		}
	}
}

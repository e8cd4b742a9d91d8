package tmux

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// cutOf reads a view up to the end of its first screen and returns scrollback and screen of a terminal that got it.
func cutOf(t *testing.T, s *Server, a Attach) []string {
	t.Helper()
	v, err := s.Attach(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	// More than one read must not be needed for what was there at the cut.
	got := make([]byte, 0, len(v.replay)+1<<16)
	got = append(got, v.replay...)
	v.replay = nil
	start := len(got)
	buf := make([]byte, 32<<10)
	end := -1
	for end < 0 {
		n, err := v.Read(buf)
		if err != nil {
			t.Fatalf("the view ended: %v\n%q", err, got[start:])
		}
		got = append(got, buf[:n]...)
		end = bytes.Index(got[start:], []byte("\x1b[?2026l"))
	}
	if i := bytes.Index(got[start:], []byte("\x1b[?2026h")); i != 0 {
		t.Errorf("the screen is not the first that comes: %q", got[start:start+min(200, len(got)-start)])
	}
	term := newGrid(a.Terminal.Size.Cols, a.Terminal.Size.Rows)
	term.Write(got[:start+end])
	return term.text()
}

var lineHead = regexp.MustCompile(`<(\d+)>`)

// checkConsecutive fails unless rows, put together, are the lines a, a+1, ..., b of kind, each whole and once, but for
// the beginning of the first and the end of the last. It returns a and b.
func checkConsecutive(t *testing.T, kind string, rows []string) (first, last int) {
	t.Helper()
	text := strings.Join(rows, "")
	m := lineHead.FindStringSubmatchIndex(text)
	if m == nil {
		t.Fatalf("no line at all:\n%s", strings.Join(rows, "\n"))
	}
	first, _ = strconv.Atoi(text[m[2]:m[3]])
	if before := text[:m[0]]; !strings.HasSuffix(plainLine(kind, first-1), before) {
		t.Fatalf("before line %d stands %q", first, before)
	}
	rest := text[m[0]:]
	for n := first; ; n++ {
		want := plainLine(kind, n)
		if !strings.HasPrefix(rest, want) {
			if strings.HasPrefix(want, rest) {
				return first, n - 1
			}
			t.Fatalf("after line %d comes %q", n-1, rest[:min(len(rest), 300)])
		}
		rest = rest[len(want):]
	}
}

var sizes = []hitchpost.Size{{Cols: 80, Rows: 24}, {Cols: 40, Rows: 60}, {Cols: 200, Rows: 50}}

// History and screen join exactly, at any size, for any lines, whether the pane prints or not.
func TestAttachIsExact(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"short", "long", "mixed"} {
		for name, perSecond := range map[string]int{"flood": 0, "steady": 2000} {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				s := newServer(t)
				start(t, s, "flood", sizes[0], printer(kind, 0, perSecond)...)
				waitForHistory(t, s, "flood", 300)
				newest := 0
				for i := range 12 {
					size := sizes[i%len(sizes)]
					rows := cutOf(t, s, Attach{Session: "flood", Terminal: terminal(size), ReplayLines: 1000, Clear: true})
					first, last := checkConsecutive(t, kind, rows)
					if last-first < 200 {
						t.Errorf("%v: only the lines %d to %d", size, first, last)
					}
					if last < newest {
						t.Errorf("%v: the newest line is %d, before it was %d already", size, last, newest)
					}
					newest = last
				}
			})
		}
	}
}

// The same beside another client of another size, whose screen changes with every attach.
func TestAttachIsExactBesideAnotherClient(t *testing.T) {
	t.Parallel()
	for name, perSecond := range map[string]int{"flood": 0, "steady": 2000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t)
			start(t, s, "flood", sizes[0], printer("short", 0, perSecond)...)
			waitForHistory(t, s, "flood", 300)
			desk, err := s.Attach(t.Context(), Attach{Session: "flood", Terminal: terminal(hitchpost.Size{Cols: 100, Rows: 30})})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = io.Copy(io.Discard, desk)
			}()
			for i := range 12 {
				size := sizes[i%len(sizes)]
				if i%2 == 0 {
					size = hitchpost.Size{Cols: 40, Rows: 20}
				}
				rows := cutOf(t, s, Attach{Session: "flood", Terminal: terminal(size), ReplayLines: 1000, Clear: true})
				if first, last := checkConsecutive(t, "short", rows); last-first < 200 {
					t.Errorf("%v: only the lines %d to %d", size, first, last)
				}
			}
			if err := desk.Close(); err != nil {
				t.Error(err)
			}
			<-done
		})
	}
}

func TestAttachIsExactWhenIdle(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for _, kind := range []string{"short", "long", "mixed"} {
		for _, count := range []int{0, 1, 5, 22, 23, 24, 25, 59, 60, 61, 400} {
			if count == 0 {
				continue // printer takes it for ever
			}
			for _, size := range sizes {
				id := fmt.Sprintf("%s-%d-%d", kind, count, size.Cols)
				start(t, s, id, size, printer(kind, count, 0)...)
				waitFor(t, s, id, plainLine("short", count))
				for _, clear := range []bool{true, false} {
					rows := cutOf(t, s, Attach{Session: id, Terminal: terminal(size), ReplayLines: -1, Clear: clear})
					if first, last := checkConsecutive(t, kind, rows); first != 1 || last != count {
						t.Errorf("%s, clear %v: the lines %d to %d", id, clear, first, last)
					}
				}
				if err := s.Kill(t.Context(), id); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A whole history of 20,000 lines comes in full.
func TestAttachReplaysAll(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "full", sizes[0], printer("long", 20000, 0)...)
	waitFor(t, s, "full", "<20000>")
	rows := cutOf(t, s, Attach{Session: "full", Terminal: terminal(sizes[0]), ReplayLines: -1, Clear: true})
	if first, last := checkConsecutive(t, "long", rows); first != 1 || last != 20000 {
		t.Errorf("the lines %d to %d", first, last)
	}
	for _, limit := range []int{0, 1, 10, 100} {
		rows := cutOf(t, s, Attach{Session: "full", Terminal: terminal(sizes[0]), ReplayLines: limit, Clear: true})
		first, last := checkConsecutive(t, "long", rows)
		if want := 20000 - (sizes[0].Rows - 1) - limit + 1; first != want || last != 20000 {
			t.Errorf("limit %d: the lines %d to %d, want from %d", limit, first, last, want)
		}
	}
}

func waitForHistory(t testing.TB, s *Server, id string, rows int) {
	t.Helper()
	eventually(t, "history", func() bool {
		n, err := strconv.Atoi(raw(t, s, "display-message", "-p", "-t", target(id), "#{history_size}"))
		return err == nil && n >= rows
	})
}

func waitFor(t testing.TB, s *Server, id, text string) {
	t.Helper()
	eventually(t, text, func() bool {
		b, err := s.Capture(t.Context(), id, Capture{})
		return err == nil && bytes.Contains(b, []byte(text))
	})
}

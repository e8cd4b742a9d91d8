package tmux

import (
	"bufio"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What looks like the end of a block inside one is text; notifications are told wherever they stand; an answer of
// many blocks ends at its marker; errors are gathered.
func TestReplies(t *testing.T) {
	t.Parallel()
	in := strings.Join([]string{
		"%begin 1 1 0", "%end 1 1 0",
		"%session-changed $0 lobby",
		"%begin 2 2 1", "text", "%end 2 9 1", "%error 2 2 0", "%begin 2 2 1", "%sessions-changed", "%end 2 2 1",
		"%begin 2 3 1", "can't find session", "%error 2 3 1",
		"stray line",
		"%begin 2 4 1", strings.Repeat("long", 1<<16), "%end 2 4 1",
		"%begin 2 5 1", "mark-1", "%end 2 5 1",
		"%unlinked-window-close @1",
		"%begin 2 6 1", "mark-2", "%end 2 6 1",
		"%exit because",
	}, "\n") + "\n"
	var got []string
	p := replies{
		r:      bufio.NewReaderSize(strings.NewReader(in), 64),
		isMark: func(s string) bool { return strings.HasPrefix(s, "mark-") },
		done:   func(r *reply) { got = append(got, fmt.Sprintf("%s %d %v", r.marker, r.text.Len(), r.err())) },
		event:  func(name string) { got = append(got, name) },
	}
	err := p.run()
	want := []string{"%session-changed",
		fmt.Sprintf("mark-1 %d can't find session", len("text\n%end 2 9 1\n%error 2 2 0\n%begin 2 2 1\n%sessions-changed\n")+4<<16+1),
		"%unlinked-window-close", "mark-2 0 <nil>"}
	if diff := cmp.Diff(want, got); diff != "" || err == nil || !strings.Contains(err.Error(), "because") {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestRepliesAreBounded(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"%begin 1 1 1\n" + strings.Repeat(strings.Repeat("x", 1000)+"\n", maxReply/1000+10),
		strings.Repeat("x", maxReply+200),
		"%begin 1 1 1\ncut",
		"",
	} {
		p := replies{r: bufio.NewReaderSize(strings.NewReader(in), 1<<16), isMark: func(string) bool { return false },
			done: func(*reply) { t.Error("an answer") }, event: func(string) {}}
		if err := p.run(); err == nil {
			t.Errorf("%.20q was taken", in)
		}
	}
}

func TestParsePanes(t *testing.T) {
	t.Parallel()
	good := "hp-a|$1|%1|%1|100|0|||1796072100|3|80|24|2|.\n"
	panes, err := parsePanes("lobby|$0|%0||99|0|||1796072100||80|24|3|.\n"+good, namePrefix)
	if err != nil || len(panes) != 1 || panes[0].Run != 3 || panes[0].Attached != 2 || panes[0].Pid != 100 {
		t.Errorf("%+v, %v", panes, err)
	}
	for _, bad := range []string{
		"x\n", good[:len(good)-4] + "\n", good + "hp-b|$1", strings.Replace(good, "100", "ten", 1), strings.Replace(good, "|.", "|.|", 1),
	} {
		if panes, err := parsePanes(bad, namePrefix); err == nil {
			t.Errorf("%q was taken as %+v", bad, panes)
		}
	}
	for text, want := range map[string]string{"9": "KILL", "15": "TERM", "SIGINT": "INT", "hup": "HUP", "KILL": "KILL"} {
		if got := signalName(text); got != want {
			t.Errorf("signal %s is %s", text, got)
		}
	}
}

// An answer that lacks a session, or all of them, is not taken for the whole.
func TestHalfAnswer(t *testing.T) {
	t.Parallel()
	lobby, a := "lobby|$0|%0||99|0|||1796072100||80|24|3|.\n", "hp-a|$1|%1|%1|100|0|||1796072100|3|80|24|2|.\n"
	if lines, err := whole(lobby + a + "=$0\n=$1\n"); err != nil || lines != lobby+a {
		t.Errorf("%q, %v", lines, err)
	}
	for _, half := range []string{
		"", lobby, lobby + a, lobby + "=$0\n=$1\n", a + "=$0\n=$1\n", lobby + a + "=$0\n", "=$0\n=$1\n",
	} {
		if lines, err := whole(half); err == nil {
			t.Errorf("%q was taken as %q", half, lines)
		}
	}
}

func TestTooOld(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"3.3a": false, "3.3": false, "3.7c": false, "4.0": false, "next-3.5": false, "master": false, "openbsd-7.4": false,
		"3.2a": true, "3.2": true, "2.9": true, "1.8": true, "3": true,
	} {
		if got := tooOld(version); got != want {
			t.Errorf("%s: %v", version, got)
		}
	}
}

func TestServerEnv(t *testing.T) {
	t.Parallel()
	got := serverEnv([]string{"PATH=/bin", "TMUX=x", "TMUX_PANE=%1", "HITCHPOST_SESSION=id", "LC_ALL=C", "LC_CTYPE=C",
		"LANGUAGE=de", "LANG=C", "HOME=/h"})
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=/h", "LANG=C.UTF-8", "LC_CTYPE=C.UTF-8"}, got); diff != "" {
		t.Error(diff)
	}
	if got := serverEnv([]string{"LANG=de_DE.utf8"}); got[0] != "LANG=de_DE.utf8" {
		t.Error(got)
	}
}

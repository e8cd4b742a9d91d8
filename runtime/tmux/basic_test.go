package tmux

import (
	"testing"
	"github.com/hitchpost/hitchpost"
)

func TestBasic(t *testing.T) {
	s := newServer(t)
	t.Log(s.Version(), s.Socket())
	p := start(t, s, "a-1", hitchpost.Size{Cols: 80, Rows: 24}, sh("seq 1 100; read x; echo got $x; sleep 100")...)
	t.Logf("%+v", p)
	eventually(t, "output", func() bool { b, err := s.Capture(t.Context(), "a-1", Capture{Lines: 1}); return err == nil && string(b) == "100\n" })
	sc := attach(t, s, Attach{Session: "a-1", Terminal: terminal(hitchpost.Size{Cols: 80, Rows: 24}), ReplayLines: -1, Clear: true})
	eventually(t, "screen", func() bool { return sc.shows("100") })
	t.Logf("%q", sc.bytes())
	t.Logf("%q", sc.text())
	sc.view.Write([]byte("hello\r"))
	eventually(t, "echo", func() bool { return sc.shows("got hello") })
}

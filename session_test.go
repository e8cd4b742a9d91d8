package hitchpost_test

import (
	"testing"

	"github.com/hitchpost/hitchpost"
)

func TestHowAProcessEnded(t *testing.T) {
	t.Parallel()
	three := 3
	for want, e := range map[string]hitchpost.Exit{
		"exit 3": {Code: &three}, "killed by SIGKILL": {Signal: "KILL"}, "ended in a way nobody saw": {},
	} {
		if got := e.String(); got != want {
			t.Errorf("%+v is told as %q, want %q", e, got, want)
		}
	}
	if e := (hitchpost.Session{ExitCode: &three}).Exit(); e == nil || e.Code != &three {
		t.Errorf("a session with a code ended by %v", e)
	}
	if e := (hitchpost.Session{ExitSignal: "HUP"}).Exit(); e == nil || e.Signal != "HUP" {
		t.Errorf("a session with a signal ended by %v", e)
	}
	if e := (hitchpost.Session{}).Exit(); e != nil {
		t.Errorf("a session that nobody saw end ended by %v", e)
	}
}

func TestWhatASessionWorksIn(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]hitchpost.Session{
		"": {Branch: "main", Cwd: "/"}, "api": {Repo: "api"}, "api@main": {Repo: "api", Branch: "main"},
	} {
		if got := s.Work(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTerminalsThatCannotDraw(t *testing.T) {
	t.Parallel()
	for name, draws := range map[string]bool{
		"": false, "dumb": false, "dumb-emacs": false, "unknown": false,
		"xterm-256color": true, "vt100": true, "dumber": true, "screen": true,
	} {
		err := hitchpost.Terminal{Name: name}.CheckDrawing()
		if (err == nil) != draws || err != nil && hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%q: %v", name, err)
		}
	}
}

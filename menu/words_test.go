package menu

import (
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

func TestPlace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dir, home, want string }{
		{"/home/anna", "/home/anna", "~"}, {"/home/anna/notes", "/home/anna/", "~/notes"},
		{"/home/anna/src/api", "/home/anna", "~/src/api"}, {"/home/anna/src/api/cmd", "/home/anna", "…/api/cmd"},
		{"/home/annabel/x", "/home/anna", "…/annabel/x"}, {"/srv/a", "/home/anna", "/srv/a"}, {"/", "/", "/"},
		{"/srv/a", "", "/srv/a"}, {"/var/lib/one/two/", "", "…/one/two"}, {"", "/home/anna", ""},
	} {
		if got := place(hitchpost.Session{Cwd: c.dir}, c.home); got != c.want {
			t.Errorf("%s with the home %s is %q, want %q", c.dir, c.home, got, c.want)
		}
	}
	if got := place(hitchpost.Session{Cwd: "/srv/a", Repo: "a", Branch: "main"}, "/srv"); got != "a@main" {
		t.Errorf("in a repository it is %q", got)
	}
}

func TestAStorySaysNothingTwice(t *testing.T) {
	t.Parallel()
	s := hitchpost.Session{State: hitchpost.Failed, StateSince: ago(6 * time.Minute), StateSource: hitchpost.FromExit, ExitCode: ptr(3)}
	for reason, want := range map[string]string{
		"":                         "FAILED for 6m, exit 3",
		"exit 3":                   "FAILED for 6m: exit 3",
		"exit 3: no such database": "FAILED for 6m: exit 3: no such database",
		"the program ended":        "FAILED for 6m, exit 3: the program ended",
	} {
		s.StateReason = reason
		if got := story(s, testNow); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	s = hitchpost.Session{State: hitchpost.Stopped, StateSince: ago(6 * time.Minute), StateSource: hitchpost.FromPerson,
		StateReason: "stopped by anna", ExitSignal: "HUP"}
	if got, want := story(s, testNow), "STOPPED for 6m, killed by SIGHUP: stopped by anna (person)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

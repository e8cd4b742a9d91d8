package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

// lost is sessions called by letters, as they are after their restart: live.
func lost(handles string) []hitchpost.Session {
	var sessions []hitchpost.Session
	for _, name := range strings.Split(handles, "") {
		s := bare()
		s.ID, s.Handle, s.State = "id-"+name, name, hitchpost.Detached
		sessions = append(sessions, s)
	}
	return sessions
}

func TestRestartAllStopsOnRepeatedFailure(t *testing.T) {
	t.Parallel()
	bad := hitchpost.Errorf(hitchpost.UnavailableError, "no answer")
	f := &fake{sessions: lost("abcdefgh"), failOn: map[string]error{"id-b": bad, "id-d": bad, "id-e": bad, "id-f": bad}}
	r := client{t: t, service: f}.line("restart --all")
	if want := []string{"", "id-a", "id-b", "id-c", "id-d", "id-e", "id-f"}; !slices.Equal(f.refs, want) {
		t.Errorf("asked for %q", f.refs)
	}
	if diff := cmp.Diff(hitchpost.ListRequest{States: []hitchpost.State{hitchpost.Recoverable}}, f.asked[0]); diff != "" {
		t.Error(diff)
	}
	if r.status != 75 || r.out != "id-a  a\nid-c  c\n" ||
		r.errors != "hitchpost: 2 restarted, 4 failed, 2 not tried (b: no answer; d: no answer; e: no answer; f: no answer): "+
			"see them with `ls`\n" {
		t.Errorf("%+v", r)
	}
}

func TestRestartAllAsADocument(t *testing.T) {
	t.Parallel()
	both := lost("ab")
	both[0].ID, both[1].ID = full().ID, bare().ID
	c := client{t: t, service: &fake{sessions: both}}
	sessions, ok := document(t, c.line("restart --all --json"))["sessions"].([]any)
	if !ok || len(sessions) != 2 {
		t.Fatalf("%v", sessions)
	}
	if first, ok := sessions[0].(map[string]any); !ok || first["handle"] != "a" || first["state"] != "DETACHED" {
		t.Errorf("%v", first)
	}
}

// A session that was restarted and does not run is none that came up, whatever the request said.
func TestRestartAllSeesEachSessionRun(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: lost("abc")}
	f.sessions[1].State = hitchpost.Failed
	r := client{t: t, service: f}.line("restart --all")
	if r.status != 1 || r.out != "id-a  a\nid-c  c\n" ||
		!strings.HasPrefix(r.errors, "hitchpost: 2 restarted, 1 failed, 0 not tried (b: it is FAILED and does not run") {
		t.Errorf("%+v", r)
	}
	code := 3
	f = &fake{sessions: lost("abcd"), early: &hitchpost.Exit{Code: &code}}
	if r := (client{t: t, service: f}).line("restart --all"); r.status != 1 || r.out != "" ||
		!strings.HasPrefix(r.errors, "hitchpost: 0 restarted, 3 failed, 1 not tried (a: a ended at once: exit 3") {
		t.Errorf("%+v", r)
	}
	code = 0 // it has done its work
	if r := (client{t: t, service: f}).line("restart --all"); r.status != 0 || strings.Count(r.out, "\n") != 4 ||
		strings.Count(r.errors, "ended at once: exit 0") != 4 {
		t.Errorf("%+v", r)
	}
}

// A program that was through with its work at once is not counted as one that runs again.
func TestRestartAllCountsWhatRuns(t *testing.T) {
	t.Parallel()
	bad := hitchpost.Errorf(hitchpost.UnavailableError, "no answer")
	f := &fake{sessions: lost("abc"), failOn: map[string]error{"id-c": bad}, early: &hitchpost.Exit{Code: new(int)}}
	f.sessions[0].State, f.sessions[1].State = hitchpost.Stopped, hitchpost.Stopped
	r := client{t: t, service: f}.line("restart --all")
	if !strings.Contains(r.errors, "hitchpost: 0 restarted, 2 ended well at once, 1 failed, 0 not tried (c: no answer)") {
		t.Errorf("%+v", r)
	}
}

func TestRestartAllBesideWhatIsLeft(t *testing.T) {
	t.Parallel()
	left := hitchpost.Errorf(hitchpost.ConflictError, "b left a process behind: sleep (process 7)").For("force").
		Hinted("end it, or start beside it")
	f := &fake{sessions: lost("ab"), failOn: map[string]error{"id-b": left}}
	r := client{t: t, service: f}.line("restart --all")
	if r.status != 4 || r.out != "id-a  a\n" || !strings.Contains(r.errors, "sleep (process 7)") ||
		!strings.HasSuffix(r.errors, "start beside it with --force\n") {
		t.Errorf("%+v", r)
	}
	f = &fake{sessions: lost("ab")}
	if r := (client{t: t, service: f}).line("restart --all --force"); r.status != 0 {
		t.Errorf("%+v", r)
	}
	for _, asked := range f.asked[1:] {
		if r, ok := asked.(hitchpost.RestartRequest); !ok || !r.Force {
			t.Errorf("asked %+v", asked)
		}
	}
}

package command_test

import (
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

func TestRestartWithNote(t *testing.T) {
	t.Parallel()
	s := full()
	s.Kind, s.Handle = hitchpost.Claude, "api"
	f := &fake{sessions: []hitchpost.Session{s}, revives: true}
	if r := (client{t: t, service: f}).line("restart api --with-note"); r.status != 0 || r.errors != "" {
		t.Errorf("%+v", r)
	}
	got, ok := f.asked[len(f.asked)-1].(hitchpost.RestartRequest)
	if want := hitchpost.Briefing(fullCard(s)); !ok || got.Prompt != want {
		t.Errorf("told %q, want %q", got.Prompt, want)
	}
	f = &fake{sessions: []hitchpost.Session{s}, revives: true}
	client{t: t, service: f}.line("restart api")
	if got, ok := f.asked[len(f.asked)-1].(hitchpost.RestartRequest); !ok || got.Prompt != "" || len(f.asked) != 1 {
		t.Errorf("without being asked it was told %+v", f.asked)
	}
	s.Kind = hitchpost.Command
	f = &fake{sessions: []hitchpost.Session{s}}
	r := client{t: t, service: f}.line("restart api --with-note")
	if r.status != 2 || !strings.Contains(r.errors, "only one of kind claude takes a prompt: restart it without the note") {
		t.Errorf("%+v", r)
	}
	if len(f.asked) != 1 || f.asked[0] != "card" {
		t.Errorf("asked %v", f.asked)
	}
	f = &fake{sessions: []hitchpost.Session{s}}
	if r := (client{t: t, service: f}).line("restart --all --with-note"); r.status != 2 || len(f.asked) != 0 {
		t.Errorf("%+v, asked %v", r, f.asked)
	}
}

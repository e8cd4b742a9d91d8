package command_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

// happened are events of every shape.
func happened() []hitchpost.Event {
	return []hitchpost.Event{
		{ID: 7, SessionID: full().ID, Handle: "api", At: now.Add(-time.Hour), Kind: "created", To: hitchpost.Starting,
			Actor: "ann", Fingerprint: "SHA256:abc", Source: hitchpost.FromPerson, Reason: "new"},
		{ID: 8, SessionID: full().ID, Handle: "api", At: now.Add(-time.Minute), Kind: "exited_badly", From: hitchpost.Running,
			To: hitchpost.Failed, Source: hitchpost.FromExit, Reason: "exit 7"},
		{ID: 9, SessionID: full().ID, Handle: "api-with-a-long-handle", At: now, Kind: "joined", Actor: "bob",
			Source: hitchpost.FromPerson},
		{ID: 12, At: now, Kind: "refused", Source: hitchpost.FromPerson,
			Reason: "from 192.0.2.9 as \"x\x1b[31m\u202e\": unknown\n\u009b1m"},
		{ID: 13, SessionID: full().ID, Handle: "api", At: now, Kind: "closed", From: hitchpost.Failed, To: hitchpost.Failed,
			Actor: "ann", Source: hitchpost.FromPerson, Reason: "closed"},
	}
}

func TestEventsAsJSON(t *testing.T) {
	t.Parallel()
	f := &fake{pages: [][]hitchpost.Event{happened()}}
	first := map[string]any{
		"id": 7.0, "at": "2026-03-04T04:06:07.000Z", "event": "created", "session_id": full().ID, "handle": "api",
		"from_state": nil, "to_state": "STARTING", "actor": "ann", "fingerprint": "SHA256:abc", "source": "person",
		"reason": "new",
	}
	last := map[string]any{
		"id": 12.0, "at": "2026-03-04T05:06:07.000Z", "event": "refused", "session_id": nil, "handle": nil,
		"from_state": nil, "to_state": nil, "actor": nil, "fingerprint": nil, "source": "person",
		"reason": happened()[3].Reason,
	}
	doc := document(t, client{t: t, service: f}.line("events --json"))
	list := doc["events"].([]any)
	if diff := cmp.Diff(map[string]any{"version": 1.0, "events": []any{first, list[1], list[2], last, list[4]}}, doc); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	// Of many pages one document is made all the same, and what follows is one object a line.
	f.pages = [][]hitchpost.Event{happened()[:1], happened()[1:3], happened()[3:]}
	r := client{t: t, service: f}.line("events --json")
	var paged map[string]any
	if err := json.Unmarshal([]byte(r.out), &paged); err != nil || r.writes < 2 {
		t.Fatalf("%d writes, %v: %s", r.writes, err, r.out)
	}
	if diff := cmp.Diff(doc, paged); diff != "" {
		t.Errorf("(-one page +three)\n%s", diff)
	}
	r = client{t: t, service: f}.line("events --follow --json")
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	if len(lines) != 5 || r.writes != 3 || strings.ContainsAny(r.out, "\x1b\u009b") {
		t.Fatalf("%d writes: %q", r.writes, r.out)
	}
	for i, line := range lines {
		var one any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(list[i], one); diff != "" {
			t.Errorf("(-list +follow)\n%s", diff)
		}
	}
	if !strings.HasPrefix(r.errors, `{"error":{"code":"unavailable","message":"the database is away"`) {
		t.Errorf("stderr %q", r.errors)
	}
}

func TestEventsChosen(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]hitchpost.EventQuery{
		"events":                {},
		"events api":            {Ref: "api"},
		"events --since 2h api": {Ref: "api", Since: now.Add(-2 * time.Hour)},
		"events --since 7d":     {Since: now.Add(-7 * 24 * time.Hour)},
		"events --since 0s":     {Since: now},
		"events api --count 3":  {Ref: "api", Count: 3},
		"events --follow --since 2026-03-01T10:00:00+01:00": {Since: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)},
	} {
		f := &fake{}
		client{t: t, service: f}.line(line)
		got := f.asked[0].(hitchpost.EventQuery)
		if got.Ref != want.Ref || got.Count != want.Count || !got.Since.Equal(want.Since) {
			t.Errorf("%s: asked for %+v", line, got)
		}
	}
	for line, hint := range map[string]string{
		"events --count 0":          "leave it out for all",
		"events --count -1":         "leave it out for all",
		"events --since yesterday":  "2026-01-31T08:00:00Z",
		"events --since -2h":        "2026-01-31T08:00:00Z",
		"events --since 2026-03-04": "2026-01-31T08:00:00Z",
		"events api web":            "as in: events api",
		`events ""`:                 "none for all",
	} {
		if r := (client{t: t, service: &fake{}}).line(line); r.status != 2 || r.out != "" || !strings.Contains(r.errors, hint) {
			t.Errorf("%s: %+v", line, r)
		}
	}
}

// People see that it follows before anything happens, and are told of an outage.
func TestEventsFollowedByPeople(t *testing.T) {
	t.Parallel()
	f := &fake{pages: [][]hitchpost.Event{happened()[:2], happened()[2:]}}
	r := client{t: t, service: f}.line("events --follow")
	plain := client{t: t, service: f}.line("events")
	if r.out != plain.out || r.writes != 3 || !strings.HasPrefix(r.out, "TIME ") {
		t.Errorf("%d writes: %q, want %q", r.writes, r.out, plain.out)
	}
	if !strings.HasPrefix(r.errors, "hitchpost: the database is away: waiting") {
		t.Errorf("stderr %q", r.errors)
	}
}

// An error of the log is no list that looks whole.
func TestEventsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	f := &fake{err: hitchpost.Errorf(hitchpost.UnavailableError, "the database is away")}
	if r := (client{t: t, service: f}).line("events --json"); r.status != 75 || r.out != "" {
		t.Errorf("%+v", r)
	}
	f.pages = [][]hitchpost.Event{happened()[:1], happened()[1:]}
	if r := (client{t: t, service: f}).line("events --json"); r.status != 75 || json.Valid([]byte(r.out)) {
		t.Errorf("%+v", r)
	}
}

// A verb that the role does not allow is told of, by its name alone; other failures are not.
func TestDenialsAreTold(t *testing.T) {
	t.Parallel()
	f := &fake{err: hitchpost.Actor{Role: hitchpost.Viewer}.Require(hitchpost.Administer)}
	c := client{t: t, service: f}
	for _, line := range []string{"key ls", "--json stop x", "rename secret 'a title'"} {
		if r := c.line(line); r.status != 5 {
			t.Errorf("%s: %+v", line, r)
		}
	}
	f.err = errors.New("broken")
	c.line("key ls")
	c.line("frobnicate")
	if got := fmt.Sprint(f.denials); got != "[key ls stop rename]" {
		t.Errorf("told of %s", got)
	}
}

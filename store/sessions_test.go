package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// Everything that a person chooses comes back as it went in.
func TestCreateKeepsEverything(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	asked := b.fresh(`It's "quoted"; drop table terminal_sessions; -- #(reboot) %s $1 日本 👩‍💻`)
	asked.Kind, asked.Project, asked.Cwd = hitchpost.Command, "p'q", "/tmp/it's #{here}\n\x1b[31m"
	asked.Args = []string{"sh", "-c", "echo '$1'; \x1b[0m", "", "{a,b}", `"\`, "NULL"}
	asked.RestartCommand, asked.Note, asked.Check = "make 'x y'", "line\nline", "true; '"
	asked.ConversationID, asked.Repo, asked.Branch = newID(), "repo", "feature/'x"
	asked.Worktree, asked.WorktreeOf = "/data/worktrees/it's #{here}", "/src/it's"
	made, err := b.Create(t.Context(), asked, time.Minute, store.By{Actor: "ann", Reason: "it's \xff and \x00"})
	if err != nil {
		t.Fatal(err)
	}
	want := asked
	want.Handle, want.State, want.StateSource = "it-s-quoted-drop-table-terminal", hitchpost.Starting, hitchpost.FromPerson
	want.StateReason = "it's \uFFFD and \uFFFD"
	want.CreatedAt, want.StateSince = made.CreatedAt, made.StateSince
	want.LeaseUntil = made.StateSince.Add(time.Minute) // by the database's clock
	if diff := cmp.Diff(want, made); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
	if since := time.Since(made.CreatedAt); since < -time.Minute || since > time.Minute || made.CreatedAt.Location() != time.UTC {
		t.Errorf("created at %v", made.CreatedAt)
	}
	list, err := b.Sessions(t.Context(), hitchpost.ListRequest{})
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if diff := cmp.Diff(made, list[0]); diff != "" {
		t.Errorf("created -, listed +:\n%s", diff)
	}
}

func TestCreateRefuses(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for name, c := range map[string]struct {
		kind hitchpost.ErrorKind
		edit func(*hitchpost.Session)
	}{
		"no id":           {hitchpost.UsageError, func(s *hitchpost.Session) { s.ID = "1' or '1'='1" }},
		"upper-case id":   {hitchpost.UsageError, func(s *hitchpost.Session) { s.ID = strings.ToUpper(s.ID) }},
		"escape in title": {hitchpost.UsageError, func(s *hitchpost.Session) { s.Title = "\x1b]0;x\a" }},
		"blank title":     {hitchpost.UsageError, func(s *hitchpost.Session) { s.Title = " \t " }},
		"relative":        {hitchpost.UsageError, func(s *hitchpost.Session) { s.Cwd = "src" }},
		"bytes in cwd":    {hitchpost.UsageError, func(s *hitchpost.Session) { s.Cwd = "/caf\xe9" }},
		"NUL in args":     {hitchpost.UsageError, func(s *hitchpost.Session) { s.Args = []string{"a\x00b"} }},
		"unknown kind":    {hitchpost.UsageError, func(s *hitchpost.Session) { s.Kind = "daemon" }},
		"unknown node":    {hitchpost.NotFoundError, func(s *hitchpost.Session) { s.Node = "there" }},
		"hostile node":    {hitchpost.NotFoundError, func(s *hitchpost.Session) { s.Node = "'; drop table x; --\xff" }},
	} {
		s := b.fresh("fine")
		c.edit(&s)
		_, err := b.Create(t.Context(), s, time.Minute, store.By{})
		if hitchpost.KindOf(err) != c.kind {
			t.Errorf("%s: %v (%s), want %s", name, err, hitchpost.KindOf(err), c.kind)
		}
	}
	_, err := b.Create(t.Context(), b.fresh("fine"), 0, store.By{})
	wantKind(t, err, hitchpost.UsageError) // no lease
	s := b.create(t, "fine")
	_, err = b.Create(t.Context(), s, time.Minute, store.By{})
	wantKind(t, err, hitchpost.ConflictError)
	if list, err := b.Sessions(t.Context(), hitchpost.ListRequest{All: true}); err != nil || len(list) != 1 {
		t.Errorf("%d sessions kept, %v", len(list), err)
	}
	if events := b.kinds(t, ""); events != "key_added created" {
		t.Errorf("events %s", events)
	}
}

// The database refuses by itself what CheckTitle does, whoever writes.
func TestHostileTitlesAreRefusedByTheDatabaseToo(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.create(t, "fine")
	c := conn(t, b.url)
	for _, title := range []string{"", "  ", "a\nb", "\x1b[31m", "\x7f", "\u009b1m", "\u202eevil", "\u2066x", "\u200f", "\u2028",
		"\u061c", strings.Repeat("é", 201)} {
		if _, err := c.Exec(t.Context(), `update terminal_sessions set title = $2 where id = $1`, s.ID, title); err == nil {
			t.Errorf("the database takes the title %q", title)
		}
	}
	for _, title := range []string{"é", "日本語", "שלום", "👩‍💻", "#(reboot)", strings.Repeat("é", 200)} {
		if _, err := c.Exec(t.Context(), `update terminal_sessions set title = $2 where id = $1`, s.ID, title); err != nil {
			t.Errorf("the database refuses the title %q: %v", title, err)
		}
	}
}

// A handle is free once its session is closed, and a closed one that lives after all gets another.
func TestHandleOfAClosedSession(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	first := b.live(t, "api")
	b.change(t, first.ID, hitchpost.ChangeLost)
	closed := b.change(t, first.ID, hitchpost.ChangeClosed)
	if closed.State != hitchpost.Stopped || closed.Open() {
		t.Fatalf("%+v", closed)
	}
	_, err := b.Change(t.Context(), first.ID, store.Transition{Change: hitchpost.ChangeRestartAsked, Lease: time.Minute})
	wantKind(t, err, hitchpost.ConflictError)
	_, err = b.Rename(t.Context(), first.ID, "other", store.By{})
	wantKind(t, err, hitchpost.ConflictError)
	if second := b.create(t, "api"); second.Handle != "api" {
		t.Errorf("handle %s", second.Handle)
	}
	if again := b.change(t, first.ID, hitchpost.ChangeFound); again.Handle != "api-2" || !again.Open() {
		t.Errorf("handle %s, closed at %v", again.Handle, again.ClosedAt)
	}
}

func TestRename(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.create(t, "one")
	s := b.create(t, "two")
	for _, c := range []struct{ title, handle string }{{"Two!", "two"}, {"one", "one-2"}, {"ONE", "one-2"},
		{"whoami", "s-whoami"}} {
		got, err := b.Rename(t.Context(), s.ID, c.title, store.By{Actor: "ann"})
		if err != nil || got.Title != c.title || got.Handle != c.handle {
			t.Errorf("%q: %q, handle %s, %v; want %s", c.title, got.Title, got.Handle, err, c.handle)
		}
	}
	_, err := b.Rename(t.Context(), s.ID, "a\nb", store.By{})
	wantKind(t, err, hitchpost.UsageError)
	_, err = b.Rename(t.Context(), newID(), "x", store.By{})
	wantKind(t, err, hitchpost.NotFoundError)
	if got := b.kinds(t, s.ID); got != "created renamed renamed renamed renamed" {
		t.Errorf("events %s", got)
	}
}

func TestAdopt(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.create(t, "lost and found")
	rec := b.fresh("lost and found")
	rec.Handle, rec.Restarts, rec.CreatedAt = "../evil", 3, time.Now().Add(-time.Hour).UTC().Truncate(time.Second)
	got, err := b.Adopt(t.Context(), rec, store.By{Source: hitchpost.FromTmux})
	if err != nil || got.State != hitchpost.Detached || got.Restarts != 3 || got.Handle != "evil" ||
		!got.CreatedAt.Equal(rec.CreatedAt) || got.StartedAt.IsZero() || got.StateSource != hitchpost.FromTmux {
		t.Errorf("%+v, %v", got, err)
	}
	_, err = b.Adopt(t.Context(), rec, store.By{})
	wantKind(t, err, hitchpost.ConflictError)
	if got := b.kinds(t, rec.ID); got != "found" {
		t.Errorf("events %s", got)
	}
}

func TestListing(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	other, err := b.Node(t.Context(), newID(), "there")
	if err != nil {
		t.Fatal(err)
	}
	b.live(t, "one")
	two := b.fresh("two")
	two.Node, two.Project = other.Name, "p"
	if _, err := b.Create(t.Context(), two, time.Minute, store.By{}); err != nil {
		t.Fatal(err)
	}
	three := b.live(t, "three")
	b.change(t, three.ID, hitchpost.ChangeExitedWell)
	b.change(t, three.ID, hitchpost.ChangeClosed)
	for want, r := range map[string]hitchpost.ListRequest{
		"one two":       {},
		"one two three": {All: true},
		"two":           {Node: "there"},
		"two ":          {Project: "p"},
		"one":           {States: []hitchpost.State{hitchpost.Detached, hitchpost.Running}},
		"one three":     {States: []hitchpost.State{hitchpost.Detached, hitchpost.Stopped}, All: true},
		"":              {Node: "' or true --"},
	} {
		list, err := b.Sessions(t.Context(), r)
		var names []string
		for _, s := range list {
			names = append(names, s.Handle)
		}
		if got := strings.Join(names, " "); err != nil || got != strings.TrimSpace(want) {
			t.Errorf("%+v: %q, %v; want %q", r, got, err, want)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "coder")
	places := []store.Place{{ID: s.ID, Repo: "api", Branch: "caf\xe9"}, {ID: newID(), Repo: "none"}}
	if err := b.SetPlace(t.Context(), places); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Session(t.Context(), s.ID); err != nil || got.Repo != "api" || got.Branch != "caf\uFFFD" {
		t.Errorf("%q@%q, %v", got.Repo, got.Branch, err)
	}
}

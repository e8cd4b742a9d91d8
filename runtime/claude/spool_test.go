package claude_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost/runtime/claude"
)

const (
	ownSession   = "0190f5fe-7c00-7000-8000-00000000000a"
	otherSession = "0190f5fe-7c00-7000-8000-00000000000b"
)

// hooked calls the hook as the session's program would.
func hooked(dir, session, token, run, input string) error {
	env := map[string]string{
		claude.SpoolVariable: dir, claude.SessionVariable: session, claude.TokenVariable: token, claude.RunVariable: run,
	}
	return claude.Hook(func(name string) string { return env[name] }, strings.NewReader(input), time.Unix(1_800_000_000, 5))
}

func openSpool(t *testing.T) (*claude.Spool, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "hooks")
	s, err := claude.OpenSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, dir
}

// tokens is the token of each session that the tests know.
func tokens(session string) (string, error) {
	switch session {
	case ownSession, otherSession:
		return "token of " + session, nil
	case "unreadable":
		return "", fs.ErrPermission
	}
	return "", fmt.Errorf("no folder: %w", fs.ErrNotExist)
}

// readAll reads the spool and returns what came.
func readAll(t *testing.T, s *claude.Spool) ([]claude.Event, claude.Dropped) {
	t.Helper()
	var got []claude.Event
	dropped, err := s.Read(t.Context(), tokens, func(_ context.Context, e claude.Event) error {
		got = append(got, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, dropped
}

func left(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestSpoolBringsEventsInOrder(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	for _, c := range []struct{ run, name string }{
		{"10", claude.HookSessionStart}, {"2", claude.HookSessionStart}, {"2", claude.HookUserPromptSubmit}, {"2", claude.HookStop},
	} {
		if err := hooked(dir, ownSession, "token of "+ownSession, c.run, hookInput(c.name, `,"cwd":"/p"`)); err != nil {
			t.Fatal(err)
		}
	}
	got, dropped := readAll(t, s)
	var names []string
	for i, e := range got {
		names = append(names, fmt.Sprint(e.Run, " ", e.Name))
		if i > 0 && e.Mark <= got[i-1].Mark {
			t.Errorf("mark %q after %q", e.Mark, got[i-1].Mark)
		}
		if e.Session != ownSession || e.Conversation != conversation || e.Cwd != "/p" || !e.At.Equal(time.Unix(1_800_000_000, 5)) {
			t.Errorf("%+v", e)
		}
	}
	want := []string{"2 SessionStart", "2 UserPromptSubmit", "2 Stop", "10 SessionStart"}
	if diff := cmp.Diff(want, names); diff != "" || dropped.Any() {
		t.Errorf("dropped %+v, events %s", dropped, diff)
	}
	if names := left(t, dir); len(names) != 0 {
		t.Errorf("left behind: %v", names)
	}
}

// What waits while the service is away is there when it comes.
func TestSpoolKeepsWhatWaits(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	if err := hooked(dir, ownSession, "token of "+ownSession, "0", hookInput(claude.HookStop, "")); err != nil {
		t.Fatal(err)
	}
	again, err := claude.OpenSpool(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	select {
	case <-again.Wake():
		t.Error("woken before anything new came: who opens a spool reads it first")
	default:
	}
	if got, _ := readAll(t, s); len(got) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestSpoolWakes(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	for range 3 {
		if err := hooked(dir, ownSession, "token of "+ownSession, "0", hookInput(claude.HookStop, "")); err != nil {
			t.Fatal(err)
		}
		awaitEvents(t, s, 1)
	}
}

// awaitEvents waits for wakings until that many events came.
func awaitEvents(t *testing.T, s *claude.Spool, n int) []claude.Event {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	var all []claude.Event
	for len(all) < n {
		select {
		case <-s.Wake():
		case <-limit.C:
			t.Fatalf("%d events came", len(all))
		}
		got, dropped := readAll(t, s)
		if dropped.Any() {
			t.Errorf("dropped %+v", dropped)
		}
		all = append(all, got...)
	}
	return all
}

// Many hooks at once, and a reader that reads all the time: none is lost, none is seen half.
func TestSpoolUnderWay(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	const writers, each = 4, 50
	done := make(chan error, writers)
	for w := range writers {
		go func() {
			for i := range each {
				// In one process only the clock tells marks apart.
				if err := hooked(dir, ownSession, "token of "+ownSession, fmt.Sprint(w), hookInput("E"+fmt.Sprint(i), "")); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	byRun := map[int][]string{}
	for _, e := range awaitEvents(t, s, writers*each) {
		byRun[e.Run] = append(byRun[e.Run], e.Mark)
	}
	for range writers {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for run, marks := range byRun {
		if len(marks) != each || !slices.IsSorted(marks) {
			t.Errorf("run %d: %d events, sorted %v", run, len(marks), slices.IsSorted(marks))
		}
	}
}

func TestSpoolDrops(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	mark := func(n int) string { return filepath.Join(dir, fmt.Sprintf("%09d-%019d-%010d.json", 0, n, 1)) }
	write := func(n int, text string) {
		t.Helper()
		if err := os.WriteFile(mark(n), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := `{"version":1,"session":"` + ownSession + `","token":"token of ` + ownSession + `","name":"Stop","conversation":"c"`
	write(1, "")                                                   // a power loss
	write(2, good)                                                 // torn
	write(3, good+`,"message":"`+strings.Repeat("x", 70_000)+`"}`) // too large
	write(4, strings.Replace(good, ownSession, "gone", 1)+"}")
	write(5, strings.Replace(good, "token of", "another of", 1)+"}")
	write(6, strings.Replace(good, `"token of `+ownSession+`"`, `""`, 1)+"}")
	write(7, strings.Replace(good, `"version":1`, `"version":2`, 1)+"}")
	write(8, `[1]`)
	write(9, good+"}")
	must(t, syscall.Mkfifo(mark(10), 0o600))
	must(t, os.Symlink(mark(9), mark(11)))
	must(t, os.MkdirAll(filepath.Join(mark(12), "full"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "note.txt"), nil, 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "1-2-3.json"), []byte(good+"}"), 0o600))

	got, dropped := readAll(t, s)
	if len(got) != 1 || got[0].Name != claude.HookStop || got[0].Mark != strings.TrimSuffix(filepath.Base(mark(9)), ".json") {
		t.Errorf("%+v", got)
	}
	if want := (claude.Dropped{Torn: 4, TooLarge: 4, Stranger: 1, Token: 2}); dropped != want {
		t.Errorf("dropped %+v, want %+v", dropped, want)
	}
	if diff := cmp.Diff([]string{"1-2-3.json", "note.txt"}, left(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// One session whose event cannot be applied keeps its order and holds up nobody else.
func TestSpoolHoldsBackASession(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	for _, session := range []string{ownSession, otherSession, ownSession, "unreadable"} {
		must(t, hooked(dir, session, "token of "+session, "0", hookInput(claude.HookStop, "")))
	}
	away := errors.New("the database is away")
	var tried []string
	dropped, err := s.Read(t.Context(), tokens, func(_ context.Context, e claude.Event) error {
		tried = append(tried, e.Session)
		if e.Session == ownSession {
			return away
		}
		return nil
	})
	if diff := cmp.Diff([]string{ownSession, otherSession}, tried); diff != "" || dropped.Any() || !errors.Is(err, away) {
		t.Errorf("%s, dropped %+v, error %v", diff, dropped, err)
	}
	var sessions []string
	_, err = s.Read(t.Context(), tokens, func(_ context.Context, e claude.Event) error {
		sessions = append(sessions, e.Session)
		return nil
	})
	if diff := cmp.Diff([]string{ownSession, ownSession}, sessions); diff != "" || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%s, error %v", diff, err)
	}
	if names := left(t, dir); len(names) != 1 {
		t.Errorf("left: %v", names)
	}
}

func TestSpoolReadHeedsItsContext(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	must(t, hooked(dir, ownSession, "token of "+ownSession, "0", hookInput(claude.HookStop, "")))
	must(t, hooked(dir, ownSession, "token of "+ownSession, "0", hookInput(claude.HookStop, "")))
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	applied := 0
	_, err := s.Read(ctx, tokens, func(context.Context, claude.Event) error { applied++; cancel(enough); return nil })
	if applied != 1 || !errors.Is(err, enough) || len(left(t, dir)) != 1 {
		t.Errorf("%d applied, error %v, left %v", applied, err, left(t, dir))
	}
}

// A hook that was killed leaves a part of a file; one that is at work is left alone.
func TestSpoolSweeps(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	old := filepath.Join(dir, fmt.Sprintf(".%09d-%019d-%010d", 0, 1, 1))
	fresh := filepath.Join(dir, fmt.Sprintf(".%09d-%019d-%010d", 0, 2, 1))
	strange := filepath.Join(dir, ".keep")
	for _, path := range []string{old, fresh, strange} {
		must(t, os.WriteFile(path, []byte("{"), 0o600))
	}
	hour := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(old, hour, hour))
	must(t, os.Chtimes(strange, hour, hour))
	readAll(t, s)
	if diff := cmp.Diff([]string{filepath.Base(fresh), ".keep"}, left(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// Nobody reads: the spool grows no more at its bound, and its reader is told.
func TestSpoolIsBounded(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	for i := range 10_000 {
		name := filepath.Join(dir, fmt.Sprintf("%09d-%019d-%010d.json", 0, i+1, 1))
		must(t, os.WriteFile(name, nil, 0o600))
	}
	if err := hooked(dir, ownSession, "token of "+ownSession, "0", hookInput(claude.HookStop, "")); err == nil {
		t.Error("an event was added")
	}
	if got, dropped := readAll(t, s); len(got) != 0 || !dropped.Full || dropped.Torn != 10_000 {
		t.Errorf("%d events, dropped %+v", len(got), dropped)
	}
	must(t, hooked(dir, ownSession, "token of "+ownSession, "0", hookInput(claude.HookStop, "")))
}

func TestHookDoesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := hookInput(claude.HookStop, "")
	for name, err := range map[string]error{
		"no session": hooked(dir, "", "t", "0", good), "no token": hooked(dir, "s", "", "0", good),
		"no run": hooked(dir, "s", "t", "", good), "a run that is none": hooked(dir, "s", "t", "-1", good),
		"a long run": hooked(dir, "s", "t", "1000000000", good), "no spool": hooked("", "s", "t", "0", good),
		"a relative spool": hooked("x", "s", "t", "0", good), "a spool that is gone": hooked(dir+"/gone", "s", "t", "0", good),
		"no event": hooked(dir, "s", "t", "0", "{}"), "too much": hooked(dir, strings.Repeat("s", 70_000), "t", "0", good),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if names := left(t, dir); len(names) != 0 {
		t.Errorf("left: %v", names)
	}
}

// Claude Code is told no error of a pipe although not all that it writes is read.
func TestHookTakesALongInput(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	r, w := io.Pipe()
	wrote := make(chan error, 1)
	go func() {
		_, err := io.WriteString(w, strings.TrimSuffix(hookInput(claude.HookPostToolUse, ""), "}")+
			`,"tool_response":"`+strings.Repeat("x", 8<<20)+`"}`)
		wrote <- errors.Join(err, w.Close())
	}()
	env := map[string]string{
		claude.SpoolVariable: dir, claude.SessionVariable: ownSession, claude.TokenVariable: "token of " + ownSession,
		claude.RunVariable: "0",
	}
	must(t, claude.Hook(func(name string) string { return env[name] }, r, time.Now()))
	must(t, <-wrote)
	if got, _ := readAll(t, s); len(got) != 1 || !got[0].Cut {
		t.Errorf("%+v", got)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func BenchmarkHook(b *testing.B) {
	dir := b.TempDir()
	input := hookInput(claude.HookPreToolUse, `,"tool_name":"Bash","tool_input":{"command":"go test ./..."},"cwd":"/p"`)
	for i := range b.N {
		if i%1000 == 0 { // the spool is read meanwhile
			b.StopTimer()
			if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
		if err := hooked(dir, ownSession, "t", "0", input); err != nil {
			b.Fatal(err)
		}
	}
}

// What stands in the spool is fit to be shown also where no hook of ours wrote it.
func TestSpoolTidiesTexts(t *testing.T) {
	t.Parallel()
	s, dir := openSpool(t)
	long := strings.Repeat("x", 10_000)
	text := fmt.Sprintf(`{"version":1,"session":%q,"token":%q,"name":"PermissionRequest","conversation":"c","tool":"a\u001b[2Jb\nc",`+
		`"question":%q,"message":"\u0007%s","error":%q,"shells":-7}`, ownSession, "token of "+ownSession, long, long, long)
	must(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%09d-%019d-%010d.json", 0, 1, 1)), []byte(text), 0o600))
	got, _ := readAll(t, s)
	if len(got) != 1 {
		t.Fatalf("%+v", got)
	}
	e := got[0]
	if e.Tool != "a\ufffd[2Jb c" || len(e.Question) > 500 || len(e.Message) > 500 || len(e.Error) > 500 || e.Message[0] == 7 || e.Shells != 0 {
		t.Errorf("%+v", e)
	}
}

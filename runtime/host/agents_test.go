package host_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/host"
)

func itoa(n int) string { return strconv.Itoa(n) }

// idle starts this test binary as a program that does nothing, in dir, under the name and with the words that are given.
func idle(t *testing.T, dir, name string, env []string, words ...string) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self, file); err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(file, words, &os.ProcAttr{
		Dir: dir, Env: append([]string{idleVariable + "=1"}, env...), Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill()
		_, _ = p.Wait()
	})
	return p.Pid
}

// realDir is a directory without symlinks.
func realDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// in looks for the agents that work in one of the directories: the machine may run others.
func in(t *testing.T, dirs ...string) []host.Agent {
	t.Helper()
	all, err := host.Agents(t.Context(), mark)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(all, func(a host.Agent) bool { return !slices.Contains(dirs, a.Dir) })
}

func TestAgentsAreFoundWithDirectoryMarkAndParents(t *testing.T) {
	t.Parallel()
	dir, other := realDir(t), realDir(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	claude := idle(t, link, "claude", []string{mark + "=session-1"}, "/usr/local/bin/claude", "--resume", "x")
	gemini := idle(t, dir, "node", nil, "node", "--no-warnings", "/usr/bin/gemini", "-i", "do \x1b[2J this")
	aider := idle(t, other, "python3", nil, "/usr/bin/python3", "-m", "aider")
	renamed := idle(t, other, "codex", nil, "/bin/sh", "/home/a/bin/codex") // as a script with that name shows itself
	idle(t, dir, "grep", nil, "grep", "claude")
	idle(t, dir, "vim", nil, "vim", "claude", "gemini", "/usr/bin/codex")
	idle(t, dir, "node", nil, "node", "/srv/server.js", "claude")

	got := in(t, dir, other)
	want := map[int]string{claude: "claude", gemini: "gemini", aider: "aider", renamed: "codex"}
	for _, a := range got {
		if want[a.Pid] != a.Agent || a.DirGone || a.Under != 0 || a.Account == "" || a.Since.IsZero() {
			t.Errorf("%+v, want %q", a, want[a.Pid])
		}
		if len(a.Chain) == 0 || a.Chain[0] != os.Getpid() || !slices.Contains(a.Chain, os.Getppid()) {
			t.Errorf("process %d descends from %v, not from %d", a.Pid, a.Chain, os.Getpid())
		}
		if wantMark := map[bool]string{true: "session-1"}[a.Pid == claude]; a.Mark != wantMark {
			t.Errorf("mark of process %d is %q, want %q", a.Pid, a.Mark, wantMark)
		}
		delete(want, a.Pid)
	}
	if len(want) != 0 {
		t.Errorf("not found: %v", want)
	}
	if i := slices.IndexFunc(got, func(a host.Agent) bool { return a.Pid == claude }); i >= 0 &&
		strings.Join(got[i].Command, " ") != "/usr/local/bin/claude --resume x" {
		t.Errorf("its words are %q", got[i].Command)
	}
}

// A launcher and the program that it starts are one agent; the directory may be taken away under it.
func TestAgentsUnderTheirLauncher(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	gone := filepath.Join(dir, "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "codex")
	if err := os.Symlink("/bin/sh", file); err != nil {
		t.Fatal(err)
	}
	p, err := os.StartProcess(file, []string{file, "-c", `(exec "$0" -c 'sleep 1000; :') & wait`, file}, &os.ProcAttr{
		Dir: gone, Env: []string{"PATH=" + os.Getenv("PATH")}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
		_, _ = p.Wait()
	})
	var got []host.Agent
	eventually(t, "the launcher and what it started", func() bool {
		got = in(t, gone)
		return len(got) == 2 && slices.ContainsFunc(got, func(a host.Agent) bool { return a.Under == p.Pid && a.Agent == "codex" })
	})
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	for _, a := range in(t, gone) {
		if !a.DirGone || (a.Under == 0) != (a.Pid == p.Pid) {
			t.Errorf("%+v", a)
		}
	}
	if got := in(t, gone); len(got) != 2 {
		t.Errorf("after its directory was removed: %+v", got)
	}
}

func TestInDirFindsWhatWorksBelow(t *testing.T) {
	t.Parallel()
	dir := realDir(t)
	tree, beside := filepath.Join(dir, "tree"), filepath.Join(dir, "tree-2")
	deep := filepath.Join(tree, "a (deleted)", "b")
	for _, d := range []string{deep, beside} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(tree, link); err != nil {
		t.Fatal(err)
	}
	first := idle(t, tree, "first", nil, "first")
	second := idle(t, filepath.Dir(deep), "second", nil, "second", "word")
	idle(t, beside, "third", nil, "third")
	idle(t, dir, "fourth", nil, "fourth")

	got, _, err := host.InDir(t.Context(), link)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]string{first: tree, second: filepath.Dir(deep)}
	for _, r := range got {
		if want[r.Pid] != r.Dir || r.DirGone || r.Account == "" || len(r.Command) == 0 || len(r.Chain) == 0 {
			t.Errorf("%+v, want %q", r, want[r.Pid])
		}
		delete(want, r.Pid)
	}
	if len(want) != 0 {
		t.Errorf("not found: %v", want)
	}
	if got, _, err := host.InDir(t.Context(), filepath.Join(dir, "nothing")); err == nil {
		t.Errorf("in no directory: %+v", got)
	}
	for path, within := range map[string]bool{"/": true, "/a": true} {
		if host.Within(path, "/") != within {
			t.Errorf("%s is not within the root", path)
		}
	}
	if host.Within("/ab", "/a") || host.Within("/", "/a") || !host.Within("/a/b", "/a/") {
		t.Error("a path is within what it merely begins like")
	}
}

// Who looks is not told of itself and of those that it descends from, wherever they work.
func TestInDirLeavesOutWhoLooks(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := host.InDir(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range got {
		if r.Pid == os.Getpid() || r.Pid == os.Getppid() {
			t.Errorf("found %+v", r)
		}
	}
}

// BenchmarkAgents is one look for agents at all processes of the machine.
func BenchmarkAgents(b *testing.B) {
	for b.Loop() {
		if _, err := host.Agents(b.Context(), mark); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInDir is one look at the directories of all processes of the machine.
func BenchmarkInDir(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		if _, _, err := host.InDir(b.Context(), dir); err != nil {
			b.Fatal(err)
		}
	}
}

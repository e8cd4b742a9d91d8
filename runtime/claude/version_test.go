package claude_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

// TestMain lets the program of these tests pass for Claude Code where it is asked for its version: it is no script.
func TestMain(m *testing.M) {
	if len(os.Args) != 2 || os.Args[1] != "--version" {
		os.Exit(m.Run())
	}
	f, err := os.OpenFile(filepath.Join(os.Getenv("HOME"), "asked"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString("x")
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("2.1.332 (Claude Code)")
}

// program writes a program that a shell runs.
func program(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "claude")
	write(t, path, "#!/bin/sh\n"+body, 0o700)
	return path
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func find(t *testing.T, path string) (claude.Install, error) {
	t.Helper()
	return new(claude.Finder).Find(t.Context(), path, []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", "SECRET=1"})
}

func TestFindTellsTheVersion(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"echo '2.1.332 (Claude Code)'":                                                          "2.1.332",
		"echo '2.1.0 (Claude Code)'":                                                            "2.1.0",
		"echo '10.0.0-beta.1+x (Claude Code) dev'":                                              "10.0.0",
		"echo a warning; printf '2.1.197 (Claude Code)\\r\\n'":                                  "2.1.197",
		"echo a warning >&2; echo '2.2.3 (Claude Code)'":                                        "2.2.3",
		`[ "$1" = --version ] && [ $# = 1 ] && [ -z "$SECRET" ] && echo '2.1.5 (Claude Code)'`:  "2.1.5",
		`[ "$HOME" = /nowhere ] && [ -n "$DISABLE_AUTOUPDATER" ] && echo '2.1.6 (Claude Code)'`: "2.1.6",
		`sleep 60 & echo '2.1.7 (Claude Code)'; echo $! > "$0.pid"; kill $!`:                    "2.1.7",
		`echo '2.1.8 (Claude Code)'; head -c 1000000 /dev/zero; exit 0`:                         "2.1.8",
	} {
		path := program(t, body)
		got, err := find(t, path)
		if err != nil || got.Version != want || got.Path != path {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		write(t, path, text, mode)
		return path
	}
	const usage, failed = hitchpost.UsageError, hitchpost.FailedError
	for _, test := range []struct {
		path string
		kind hitchpost.ErrorKind
		say  string
	}{
		{"claude", usage, "is not the absolute path"},
		{filepath.Join(dir, "gone"), usage, "there is no claude at"},
		{file("plain", "x", 0o600) + "/below", usage, "there is no claude at"},
		{dir, usage, "is not a file that can be run"},
		{file("locked", "#!/bin/sh\necho '2.1.332 (Claude Code)'\n", 0o600), usage, "make it so with chmod +x"},
		{file("foreign", "\x7fELF\x02\x01\x01"+strings.Repeat("\x00", 11)+"\xf7\x00"+strings.Repeat("\x00", 100), 0o700), usage,
			"is not a program for this machine: exec format error"},
		{file("text", "no program", 0o700), usage, "is not a program for this machine"},
		{file("empty", "", 0o700), usage, "is not a program for this machine"},
		{file("node", "#!/nowhere/node\n", 0o700), usage, "needs a program that is not there"},
		{program(t, "echo '1.0.128 (Claude Code)'"), usage, "is Claude Code 1.0.128, which is too old: update it to 2.1.0 or later"},
		{program(t, "echo '2.0.999 (Claude Code)'"), usage, "too old"},
		{program(t, "echo hello; echo there"), failed, `does not answer as Claude Code, but says "hello"`},
		{program(t, "true"), failed, "but says nothing"},
		{program(t, "echo '2.1 (Claude Code)'"), failed, "does not answer as Claude Code"},
		{program(t, "echo 'v2.1.332'"), failed, "does not answer as Claude Code"},
		{program(t, `printf '\033[31m2.1.332 (Claude Code)'`), failed, `but says "\x1b[31m2.1.332 (Claude Code)"`},
		{program(t, "yes '"+strings.Repeat("x", 5000)+"' | head -n 100"), failed, "x…\""},
		{program(t, "echo no node here >&2; exit 127"), failed, `" --version failed (exit status 127) and said "no node here"`},
		{program(t, "echo '2.1.332 (Claude Code)'; exit 3"), failed, "failed (exit status 3)"},
		{program(t, "kill -SEGV $$"), failed, "failed (signal: segmentation fault"},
	} {
		got, err := find(t, test.path)
		if hitchpost.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.say) {
			t.Errorf("%s: %+v, %v", test.path, got, err)
			continue
		}
		if text := err.Error(); len(text) > 400 || strings.ContainsAny(text, "\x1b\n\x00") {
			t.Errorf("%s: the message is not one short line: %q", test.path, text)
		}
	}
}

// What hangs is ended with all that it started, and holds nobody longer than they want to wait.
func TestFindEndsAProgramThatHangs(t *testing.T) {
	t.Parallel()
	path := program(t, `sleep 300 > "$0.held" & wait`)
	if err := syscall.Mkfifo(path+".held", 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the person left")
	held := make(chan *os.File, 1)
	go func() {
		f, err := os.Open(path + ".held") // returns when its child is there
		if err != nil {
			t.Error(err)
		}
		cancel(why)
		held <- f
	}()
	if got, err := new(claude.Finder).Find(ctx, path, []string{"PATH=" + os.Getenv("PATH")}); !errors.Is(err, why) {
		t.Errorf("%+v, %v", got, err)
	}
	f := <-held
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("its child is left: %v", err)
	}
}

// The same file is asked once, another under its name again. What only stands for another is asked each time.
func TestFindAsksAFileOnce(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "claude")
	if err := os.Symlink(self, path); err != nil { // this test's program answers as Claude Code does: see TestMain
		t.Fatal(err)
	}
	var f claude.Finder
	env := []string{"HOME=" + dir}
	want := func(version string, asked int) {
		t.Helper()
		got, err := f.Find(t.Context(), path, env)
		if err != nil || got.Version != version {
			t.Fatalf("%+v, %v", got, err)
		}
		if text, _ := os.ReadFile(filepath.Join(dir, "asked")); len(text) != asked {
			t.Fatalf("asked %d times, want %d", len(text), asked)
		}
	}
	want("2.1.332", 1)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := f.Find(t.Context(), path, env); err != nil || got.Version != "2.1.332" {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
	all.Wait()
	want("2.1.332", 1)
	script := "#!/bin/sh\nprintf x >> \"$HOME/asked\"\necho '2.1.%d (Claude Code)'\n"
	write(t, filepath.Join(dir, "new"), fmt.Sprintf(script, 333), 0o700)
	if err := os.Rename(filepath.Join(dir, "new"), path); err != nil {
		t.Fatal(err)
	}
	want("2.1.333", 2)
	want("2.1.333", 3)
}

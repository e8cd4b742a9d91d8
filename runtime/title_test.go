package runtime_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// TestTheTerminalTitleTellsWhere follows a session through a change of branch and of title. A name that would be a command
// in a format of tmux is shown as it is.
func TestTheTerminalTitleTellsWhere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := filepath.Join(r.dir, "shop")
	must(t, os.Mkdir(dir, 0o700))
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", "-b", "main")
	res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Title: "Check #(touch it)", Args: []string{"cat"}, Cwd: dir})
	must(t, err)
	handle := res.Session.Handle
	shows := func(want string) {
		t.Helper()
		got := ""
		eventually(t, func() bool {
			text, err := tmuxOf(r, "show-options", "-gv", "set-titles-string")
			must(t, err)
			out, err := tmuxOf(r, "display-message", "-p", "-t", "=hp-"+res.Session.ID+":", strings.TrimSpace(string(text)))
			must(t, err)
			got = strings.TrimSpace(string(out))
			return got == want
		}, func() string { return "the title is " + got + ", want " + want })
	}
	shows(handle + " · here · shop@main")
	git("switch", "-q", "-c", "x#(touch${IFS}it)#{pane_pid}")
	shows(handle + " · here · shop@x#(touch${IFS}it)#{pane_pid}")
	renamed, err := r.Rename(context.Background(), admin, res.Session.ID, "Other")
	must(t, err)
	shows("other · here · shop@x#(touch${IFS}it)#{pane_pid}")
	if renamed.Handle != "other" {
		t.Errorf("the handle is %q", renamed.Handle)
	}
	for _, place := range []string{dir, r.dir, "."} {
		if _, err := os.Stat(filepath.Join(place, "it")); err == nil {
			t.Errorf("a name was run, in %s", place)
		}
	}
}

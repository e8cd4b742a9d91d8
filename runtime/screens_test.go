package runtime_test

import (
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// TestEvidenceOfOddScreens loses sessions whose terminals show no plain lines, and looks at what was kept of each: a
// full-screen program, one that prints nothing but sequences, and a line of megabytes.
func TestEvidenceOfOddScreens(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	made := map[string]hitchpost.Session{}
	for name, script := range map[string]string{
		"full-screen": `seq 1 60; printf '\033[?1049h\033[H\033[2Jthe \033[1mmenu\033[m of a program'; read x`,
		"sequences":   `while :; do printf '\033[2J\033[H\033[31m\033[m\033]2;title\007\033[?25l'; sleep 0.2; done`,
		"long line":   `head -c 3000000 /dev/zero | tr '\0' x; printf '\nthe end\n'; read x`,
	} {
		made[name] = r.start(name, "sh", "-c", script)
	}
	for name, shown := range map[string]string{"full-screen": "of a program", "sequences": "{", "long line": "the end"} {
		path := filepath.Join(r.dir, "sessions", made[name].ID, "screen.gz")
		eventually(t, func() bool { return strings.Contains(unzipped(path), shown) }, func() string { return name + " is kept" })
		if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	pid, err := r.tmux.Pid(ctx)
	must(t, err)
	must(t, syscall.Kill(pid, syscall.SIGKILL))
	for name, s := range made {
		r.becomes(s.ID, hitchpost.Recoverable)
		screen, err := r.captured(admin, s.ID, hitchpost.CaptureRequest{})
		must(t, err)
		history, err := r.captured(admin, s.ID, hitchpost.CaptureRequest{History: true})
		must(t, err)
		ok := false
		switch name {
		case "full-screen":
			ok = string(screen) == "the menu of a program\n" && strings.HasPrefix(string(history), "1\n2\n") &&
				strings.HasSuffix(string(history), string(screen))
		case "sequences":
			ok = len(screen) == 0 && len(history) == 0
		case "long line":
			ok = strings.HasSuffix(string(screen), "x\nthe end\n") && len(history) > 5000*80 && len(history) < 5100*80
		}
		if !ok {
			t.Errorf("%s: a screen %.80q, a history of %d bytes %.80q", name, screen, len(history), history)
		}
	}
}

// unzipped is what a file holds; empty where it is not there or not whole.
func unzipped(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return ""
	}
	return string(text)
}

package hitchpost_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// The tree speaks of itself alone: what it points at is in it, and it knows no machine.
func TestTreeStandsAlone(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tracked(t) {
		text, err := os.ReadFile(filepath.FromSlash(name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(here, "/") > 1 && bytes.Contains(text, []byte(here+"/")) { // /src would say nothing
			t.Errorf("%s holds the path of this checkout, %s: others have another", name, here)
		}
		if path.Ext(name) != ".md" {
			continue
		}
		for _, target := range linksOf(string(text)) {
			if _, err := os.Stat(filepath.FromSlash(path.Join(path.Dir(name), target))); err != nil {
				t.Errorf("%s links to %s, which is not there: mend the link or add the file", name, target)
			}
			if clean := path.Join(path.Dir(name), target); clean == ".." || strings.HasPrefix(clean, "../") {
				t.Errorf("%s links to %s, outside of the tree", name, target)
			}
		}
	}
}

// tracked lists the files that git knows or would add.
func tracked(t *testing.T) []string {
	t.Helper()
	out, err := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v: this test needs git and a checkout", err)
	}
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
}

// linksOf lists the targets of a Markdown text's links to files, without their fragments.
func linksOf(text string) []string {
	var targets []string
	for _, rest := range strings.Split(text, "](")[1:] {
		target, _, ok := strings.Cut(rest, ")")
		target, _, _ = strings.Cut(target, "#")
		if ok && target != "" && !strings.Contains(target, ":") && !strings.ContainsAny(target, " \n") {
			targets = append(targets, target)
		}
	}
	return targets
}

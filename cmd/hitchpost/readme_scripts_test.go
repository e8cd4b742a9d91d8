package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestReadmeShowsTheScripts holds README to the scripts that run here: what it shows of them is what is tested.
func TestReadmeShowsTheScripts(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	must(t, err)
	for _, name := range []string{"five", "nightly", "waiting", "jobs", "watch"} {
		archive, err := txtar.ParseFile(filepath.Join("testdata", "scripts", name+".txtar"))
		must(t, err)
		shown := false
		for _, f := range archive.Files {
			var block strings.Builder
			for line := range strings.Lines(string(f.Data)) {
				block.WriteString("    " + line)
			}
			shown = shown || f.Name == name+".sh" && strings.Contains(string(readme), "\n\n"+block.String())
		}
		if !shown {
			t.Errorf("README.md does not show %s.sh as it is in %s.txtar: copy it, four blanks in", name, name)
		}
	}
}

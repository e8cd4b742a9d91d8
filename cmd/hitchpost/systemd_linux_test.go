package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestUnitsVerify has systemd read the units. It must have nothing to say: what it does not understand it ignores.
func TestUnitsVerify(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatalf("systemd-analyze is not there, install systemd: %v", err)
	}
	for flag, in := range map[string]installation{"--system": ofTheMachine(), "--user": ofAnAccount()} {
		in.Binary = built // the program of a unit must be there
		dir := t.TempDir()
		var paths []string
		for name, text := range systemdUnits(in) {
			path := filepath.Join(dir, name)
			must(t, writeFile(path, text))
			paths = append(paths, path)
		}
		cmd := exec.Command(analyze, append([]string{flag, "verify", "--man=no"}, paths...)...)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+dir, "SYSTEMD_LOG_LEVEL=warning")
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("systemd-analyze %s verify: %v\n%s", flag, err, out)
		}
	}
}

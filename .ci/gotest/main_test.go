package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The gate is tried on small modules of its own, with the real go test.
func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		has        []string
		hasNot     []string
	}{
		{
			name: "passes", body: `t.Log("quiet")`,
			has: []string{"ok  \texample.com/tried", "tests: 1 passed, 0 failed, 0 skipped"}, hasNot: []string{"quiet", "FAIL"},
		},
		{
			name: "fails", body: `t.Error("loud")`, status: 1,
			has: []string{"loud", "--- FAIL: TestIt", "FAIL\texample.com/tried", "tests: 0 passed, 1 failed, 0 skipped"},
		},
		{
			name: "skips", body: `t.` + `Skip("not here")`, status: 1,
			has: []string{"FAIL: skipped: example.com/tried TestIt", "tests: 0 passed, 0 failed, 1 skipped"},
		},
		{
			name: "skips one of many", status: 1,
			body: "t.Run(`a`, func(t *testing.T) {}); t.Run(`b`, func(t *testing.T) { t." + "SkipNow() })",
			has:  []string{"FAIL: skipped: example.com/tried TestIt/b", "tests: 2 passed, 0 failed, 1 skipped"},
		},
		{
			name: "panics", body: `panic("oh no")`, status: 1, has: []string{"oh no", "FAIL\texample.com/tried"},
		},
		{
			name: "does not build", body: `t.Nothing()`, status: 1, has: []string{"t.Nothing undefined", "FAIL"},
		},
		{
			name: "leaves a daemon", body: `exec.Command("sh", "-c", "setsid sleep 1001 >/dev/null 2>&1 &").Run()`, status: 1,
			has: []string{"left behind by the tests", "sleep 1001", "tests: 1 passed, 0 failed, 0 skipped"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if strings.HasPrefix(tt.name, "leaves") && runtime.GOOS != "linux" {
				return
			}
			t.Chdir(module(t, tt.body))
			var out bytes.Buffer
			status := run([]string{"-count=1", "./..."}, time.Second, &out, os.Stderr)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			for _, want := range tt.has {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q", want)
				}
			}
			for _, not := range tt.hasNot {
				if strings.Contains(out.String(), not) {
					t.Errorf("there is %q", not)
				}
			}
			if t.Failed() {
				t.Logf("printed:\n%s", out.String())
			}
		})
	}
}

func TestRunWithoutTests(t *testing.T) {
	t.Chdir(module(t, ``))
	var out bytes.Buffer
	if status := run([]string{"-run", "TestNone", "./..."}, time.Second, &out, os.Stderr); status != 1 {
		t.Errorf("status %d, want 1", status)
	}
	if !strings.Contains(out.String(), "FAIL: no test ran") {
		t.Errorf("printed:\n%s", out.String())
	}
}

// module writes a module with one test of that body and returns its folder.
func module(t *testing.T, body string) string {
	t.Helper()
	dir := t.TempDir()
	source := "package tried\n\nimport (\n\t\"os/exec\"\n\t\"testing\"\n)\n\nvar _ = exec.Command\n\n" +
		"func TestIt(t *testing.T) {\n" + body + "\n}\n"
	for name, text := range map[string]string{"go.mod": "module example.com/tried\n", "it_test.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

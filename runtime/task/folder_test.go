package task_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/task"
)

func TestCreateIsWholeAndPrivate(t *testing.T) {
	t.Parallel()
	s := spec(t, "a\xffb", "", "line\nline", "\u2028<&>", "{\"base64\":\"YQ==\"}", "ä")
	s.Dir, s.Timeout, s.LogLimit, s.Stdin = s.Dir+"/\xc3", 7, 1000, true
	folder := create(t, s)
	if seen := look(t, folder); !reflect.DeepEqual(seen, task.Seen{Spec: s}) {
		t.Errorf("a new task looks like %+v", seen)
	}
	for name, mode := range map[string]os.FileMode{".": fs.ModeDir | 0o700, "spec.json": 0o600, "stdin": fs.ModeNamedPipe | 0o600} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if err := task.Create(folder, s); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: %v", err)
	}
	if left := names(t, filepath.Dir(folder)); len(left) != 1 {
		t.Errorf("left %q", left)
	}
}

func TestCreateRefusesWhatNothingCanRun(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*task.Spec){
		"no words": func(s *task.Spec) { s.Argv = nil }, "no name": func(s *task.Spec) { s.Argv[0] = "" },
		"NUL": func(s *task.Spec) { s.Argv = append(s.Argv, "a\x00") }, "NUL in env": func(s *task.Spec) { s.Env = []string{"A=\x00"} },
		"relative": func(s *task.Spec) { s.Dir = "." }, "limit": func(s *task.Spec) { s.Timeout = -1 },
		"log": func(s *task.Spec) { s.LogLimit = -1 }, "too long": func(s *task.Spec) { s.Argv[0] = strings.Repeat("x", 16<<20) },
	} {
		s, parent := spec(t, "true"), t.TempDir()
		spoil(&s)
		err := task.Create(filepath.Join(parent, "id"), s)
		if hitchpost.KindOf(err) != hitchpost.UsageError || len(names(t, parent)) != 0 {
			t.Errorf("%s: %v, left %q", name, err, names(t, parent))
		}
	}
	if err := task.Create(filepath.Join(t.TempDir(), "none", "id"), spec(t, "true")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// After a power loss a file may be missing, cut or full of zeros.
func TestHalfAFolderIsNoTask(t *testing.T) {
	t.Parallel()
	folder := create(t, spec(t, "true"))
	path := filepath.Join(folder, "spec.json")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) + 1 {
		data := whole[:n]
		if n == len(whole) {
			data = make([]byte, n)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if seen, err := task.Look(folder); err == nil {
			t.Fatalf("%d of %d bytes look like %+v", n, len(whole), seen)
		}
	}
	r := runner(t, folder)
	r.wait()
	if code := r.cmd.ProcessState.ExitCode(); code != 125 || !strings.Contains(r.said.String(), "cannot be run") {
		t.Errorf("status %d, %q", code, &r.said)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, none := range []string{folder, filepath.Join(folder, "none")} {
		if seen, err := task.Look(none); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%+v, %v", seen, err)
		}
		if err := task.Cancel(none); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
		if _, err := task.OpenLog(none); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
}

func TestTornRecordIsAnErrorAndNoEnd(t *testing.T) {
	t.Parallel()
	r := begin(t, spec(t, "sh", "-c", "exit 3"))
	r.endsWith(3, "")
	path := filepath.Join(r.folder, task.RecordName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	foreign := []string{
		"{}", "[]", "null", `{"version":2}`, `{"version":1,"exit_code":0}`, strings.Repeat("\x00", 8192), strings.Repeat(" ", 1<<20),
		`{"version":1,"exit_code":1,"exit_signal":"KILL","ended_at":"2026-01-02T03:04:05Z"}`, `{"version":1,"ended_at":"2026-01-02T03:04:05Z"}`,
	}
	for n := range whole {
		foreign = append(foreign, string(whole[:n]))
	}
	for _, text := range foreign {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if seen, err := task.Look(r.folder); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%.60q looks like %+v, %v", text, seen, err)
		}
	}
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Beside a runner that starts and ends a look sees a new task, a running one or one with its record, and never a lost one.
func TestLookIsRightAtAnyMoment(t *testing.T) {
	t.Parallel()
	for range 30 {
		folder := create(t, spec(t, "echo", "out"))
		r := runner(t, folder)
		for over := false; !over; {
			seen := look(t, folder)
			if over = seen.Over(); over && (seen.Record == nil || seen.LogBytes != 4) {
				t.Fatalf("looks like %+v", seen)
			}
		}
		r.endsWith(0, "")
	}
}

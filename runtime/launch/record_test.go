package launch_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/launch"
)

func TestReadRecordRefusesWhatIsTornOrForeign(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "exit 3")
	begin(t, s).endsWith(3, "")
	whole, err := os.ReadFile(s.Record)
	if err != nil {
		t.Fatal(err)
	}
	for n := range whole {
		if err := os.WriteFile(s.Record, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := launch.ReadRecord(s.Record); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%d of %d bytes read as %+v, %v", n, len(whole), r, err)
		}
	}
	for _, foreign := range []string{
		"{}", "[]", "null", `{"version":2}`, `{"version":1,"exit_code":0}`, strings.Repeat("\x00", 8192),
		`{"version":1,"exit_code":1,"exit_signal":"KILL","ended_at":"2026-01-02T03:04:05Z"}`, strings.Repeat(" ", 1<<20),
	} {
		if err := os.WriteFile(s.Record, []byte(foreign), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := launch.ReadRecord(s.Record); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%.60q read as %+v, %v", foreign, r, err)
		}
	}
}

func TestNoRecordIsNotExist(t *testing.T) {
	t.Parallel()
	if _, err := launch.ReadRecord(filepath.Join(t.TempDir(), "exit-0.json")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// What a killed wrapper or a torn write leaves beside a record is never read as one, and never in the way.
func TestTemporaryFilesAreIgnored(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "exit 3")
	for _, name := range []string{".exit-0.json.123", "exit-0.json.open", "exit-0.json.tmp"} {
		if err := put(name, `{"version":1,"exit_code":7`, 0o600)(s.Dir); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := launch.ReadRecord(s.Record); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	begin(t, s).endsWith(3, "")
}

// The record takes no new space at the end of a run: a disk that has filled up meanwhile cannot lose it.
func TestSpaceOfTheRecordIsHeldFromTheStart(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "echo ready; read x")
	w := begin(t, s)
	w.expect("ready")
	var held, kept syscall.Stat_t
	if err := syscall.Stat(s.Record+".open", &held); err != nil {
		t.Fatal(err)
	}
	w.write("\n")
	w.endsWith(0, "")
	if err := syscall.Stat(s.Record, &kept); err != nil {
		t.Fatal(err)
	}
	if held.Ino != kept.Ino || held.Size < kept.Size || held.Blocks*512 < kept.Size || kept.Mode&0o777 != 0o600 {
		t.Errorf("held inode %d with %d bytes in %d blocks, kept inode %d with %d bytes, mode %o", held.Ino, held.Size,
			held.Blocks, kept.Ino, kept.Size, kept.Mode)
	}
	if left, err := filepath.Glob(s.Record + ".*"); err != nil || len(left) != 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

func TestRecordIsKeptWhereNoSpaceCouldBeHeld(t *testing.T) {
	t.Parallel()
	s := spec(t, "sh", "-c", "mkdir later; exit 5")
	s.Record = filepath.Join(s.Dir, "later", "exit-0.json") // the directory is missing until the program runs
	path := filepath.Join(s.Dir, "run.json")
	if err := os.Mkdir(filepath.Dir(s.Record), 0o700); err != nil {
		t.Fatal(err)
	}
	writeSpec(t, path, s)
	if err := os.RemoveAll(filepath.Dir(s.Record)); err != nil {
		t.Fatal(err)
	}
	again(t, path, s).endsWith(5, "")
}

func TestSpecIsPrivateAndOpensANewRun(t *testing.T) {
	t.Parallel()
	s := spec(t, "true")
	path := filepath.Join(s.Dir, "run.json")
	for _, old := range []string{s.Record, s.Record + ".open", path} {
		if err := os.WriteFile(old, []byte("old"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p, err := launch.Prepare(path, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Discard(); err != nil { // as if there had never been any
		t.Fatal(err)
	}
	if old, err := os.ReadFile(path); err != nil || string(old) != "old" {
		t.Errorf("%q, %v", old, err)
	}
	writeSpec(t, path, s)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	held, err := os.Stat(s.Record + ".place")
	if err != nil || held.Size() != 8<<10 {
		t.Errorf("the place of the record: %v, %v", held, err)
	}
	if entries, err := os.ReadDir(s.Dir); err != nil || len(entries) != 2 {
		t.Errorf("left %v, %v", entries, err)
	}
	if err := launch.Forget(path, s.Record); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(s.Dir); err != nil || len(entries) != 0 {
		t.Errorf("left %v, %v", entries, err)
	}
}

func TestSpecKeepsEveryByte(t *testing.T) {
	t.Parallel()
	s := spec(t, "a\xffb", "", "line\nline", "\u2028<&>", "{\"base64\":\"YQ==\"}", "ä")
	s.Argv0, s.Run, s.Dir = "-\xfe", 7, s.Dir+"/\xc3"
	path := filepath.Join(filepath.Dir(s.Record), "run.json")
	writeSpec(t, path, s)
	got, err := launch.ReadSpec(path)
	if err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("got %+v, %v\nwant %+v", got, err, s)
	}
}

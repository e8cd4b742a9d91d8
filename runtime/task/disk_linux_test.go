package task_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost/runtime/task"
)

// smallDisk is a file system of so many kilobytes.
func smallDisk(t *testing.T, kilobytes int) string {
	t.Helper()
	at := t.TempDir()
	if err := unix.Mount("small", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("mode=700,size=%dk", kilobytes)); err != nil {
		t.Fatalf("mount a small disk: %v: this test needs root, or the right to mount (CAP_SYS_ADMIN)", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(at, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	})
	return at
}

// A full disk costs output, and neither holds up nor ends the command; the end is recorded, and what comes once there
// is space again is kept.
func TestFullDiskCostsOutputAlone(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 256)
	folder := filepath.Join(disk, "id")
	s := spec(t, "sh", "-c", `echo start; head -c 1000000 /dev/zero | tr '\0' x; echo; echo full; touch full; read x < go
		i=0; while [ $i -lt 40 ]; do echo later $i; i=$((i+1)); sleep 0.05; done; exit 5`)
	s.Argv[0] = "bash"
	if err := syscall.Mkfifo(filepath.Join(s.Dir, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := task.Create(folder, s); err != nil {
		t.Fatal(err)
	}
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 128<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	r := runner(t, folder)
	r.ready(filepath.Join(s.Dir, "full"))
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.Dir, "go"), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	record := r.endsWith(5, "")
	got := output(t, folder)
	var left int
	if m := gap.FindStringSubmatch(got); m == nil {
		t.Fatalf("no gap in %d bytes, %d written", len(got), record.LogBytes)
	} else if _, err := fmt.Sscan(m[1], &left); err != nil {
		t.Fatal(err)
	}
	kept := len(gap.ReplaceAllString(got, "")) - 1 // the end of the line before the gap
	if !strings.HasPrefix(got, "start\nxxx") || !strings.HasSuffix(got, "later 39\n") || kept+left != int(record.LogBytes) {
		t.Errorf("%d kept, %d left out, %d written, %.20q … %.40q", kept, left, record.LogBytes, got, got[max(0, len(got)-40):])
	}
}

// A disk that is full from before the start to after the end: the record has its place, and the log ends with a gap.
func TestFullDiskKeepsTheRecord(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t, 128)
	folder := filepath.Join(disk, "id")
	s := spec(t, "sh", "-c", "seq 1 100000; exit 6")
	if err := task.Create(folder, s); err != nil {
		t.Fatal(err)
	}
	fill(t, filepath.Join(disk, "ballast"))
	r := runner(t, folder)
	record := r.endsWith(6, "")
	if got := output(t, folder); got != fmt.Sprintf("[hitchpost: %d bytes of output left out]\n", record.LogBytes) {
		t.Errorf("%.100q", got)
	}
	if got := tail(t, folder, 1); !gap.MatchString(got) {
		t.Errorf("the last line is %.100q", got)
	}
	parent := names(t, disk)
	if err := task.Create(filepath.Join(disk, "another"), s); err == nil || len(names(t, disk)) != len(parent) {
		t.Errorf("on a full disk: %v, %q", err, names(t, disk))
	}
}

// fill takes all space that is left.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	if err.(*os.PathError).Err != syscall.ENOSPC {
		t.Fatal(err)
	}
}

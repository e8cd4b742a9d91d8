package runtime

import (
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// A directory that can be entered but not listed is one to start in; one that cannot be entered is not.
func TestDirectoryThatCanOnlyBeEntered(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "hp-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Chmod(dir, 0o755))
	modes := map[os.FileMode]hitchpost.ErrorKind{0o111: "", 0o666: hitchpost.UsageError}
	for mode := range modes {
		must(os.Mkdir(filepath.Join(dir, mode.String()), mode))
		must(os.Chmod(filepath.Join(dir, mode.String()), mode))
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		// Permissions say nothing to root. On Linux these are the thread's own; locked, it ends with this goroutine.
		goruntime.LockOSThread()
		if os.Geteuid() == 0 {
			const nobody = 65534
			if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
				t.Error(errno)
				return
			}
		}
		var s Service
		for mode, kind := range modes {
			path := filepath.Join(dir, mode.String())
			if _, err := s.enterable(path); hitchpost.KindOf(err) != kind {
				t.Errorf("%v: %v", mode, err)
			}
		}
	}()
	<-done
}

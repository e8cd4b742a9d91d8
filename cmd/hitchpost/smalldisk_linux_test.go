package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// smallDisk is a disk of a few megabytes for the data directory of a stack. It is mounted in a mount namespace of the
// test's own thread (unshare(2)) and of all that is started from there: whatever becomes of the test, nothing of it is
// left mounted.
type smallDisk struct {
	t  *testing.T
	at string // where it is mounted

	filler         *os.File // takes the space; nil while there is some
	enough, filled chan struct{}
}

// onSmallDisk makes a stack whose data directory, private PostgreSQL included, is on a disk of that many megabytes.
// From then on the test may look at the disk from its own goroutine alone.
func onSmallDisk(t *testing.T, megabytes int) (*stack, *smallDisk) {
	t.Helper()
	d := &smallDisk{t: t}
	t.Cleanup(d.remove) // after the stack has ended
	s := prepare(t)
	d.at = s.path("data")
	must(t, os.Mkdir(d.at, 0o711))
	goruntime.LockOSThread() // never unlocked: the thread, and with it the namespace, ends with the test
	if err := d.mount(megabytes); err != nil {
		t.Fatalf("no small disk can be mounted: %v\nrun this test as root, in a container with CAP_SYS_ADMIN "+
			"(docker run --cap-add SYS_ADMIN --security-opt apparmor=unconfined), or as in: "+
			"unshare --map-current-user --mount --keep-caps go test ./cmd/hitchpost", err)
	}
	return s, d
}

func (d *smallDisk) mount(megabytes int) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("a namespace for mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil { // others see nothing of it
		return fmt.Errorf("mounts of its own: %w", err)
	}
	return unix.Mount("small", d.at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, fmt.Sprintf("mode=711,size=%dm", megabytes))
}

func (d *smallDisk) remove() {
	if d.filler != nil {
		d.free()
	}
	if d.at == "" {
		return
	}
	if err := unix.Unmount(d.at, unix.MNT_DETACH); err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: not mounted
		d.t.Errorf("unmount: %v", err)
	}
	_ = os.Remove(d.at)
}

// fill takes what space is left, to the last byte, and from then on whatever anybody gives back, until free.
func (d *smallDisk) fill() {
	d.t.Helper()
	f, err := os.OpenFile(d.at+"/filler", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	must(d.t, err)
	if _, err := io.Copy(f, endless{}); !errors.Is(err, unix.ENOSPC) {
		d.t.Fatalf("the disk did not fill up: %v", err)
	}
	d.filler, d.enough, d.filled = f, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(d.filled)
		t := time.NewTicker(time.Millisecond)
		defer t.Stop()
		for {
			select {
			case <-d.enough:
				return
			case <-t.C:
				_, _ = io.Copy(f, endless{})
			}
		}
	}()
}

// free gives the space back.
func (d *smallDisk) free() {
	d.t.Helper()
	close(d.enough)
	<-d.filled
	if err := errors.Join(os.Remove(d.filler.Name()), d.filler.Close()); !errors.Is(err, os.ErrNotExist) { // as at the end
		must(d.t, err)
	}
	d.filler = nil
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// outOfLog makes the private PostgreSQL of the stack need a new file for its log on the full disk, and waits until it has
// ended of that.
func (s *stack) outOfLog() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	pid := s.postgresPids()[0]
	conn, err := pgx.Connect(ctx, "user=hitchpost dbname=hitchpost host="+s.path("data/postgres/run"))
	must(s.t, err)
	defer func() { _ = conn.Close(ctx) }()
	for began := time.Now(); time.Since(began) < waitLimit; {
		if _, err := conn.Exec(ctx, "select pg_switch_wal(), pg_logical_emit_message(false, 'test', repeat('x', 100000))"); err != nil {
			s.eventually("PostgreSQL has ended", func() bool { return !alive(pid) })
			return
		}
	}
	s.t.Fatal("PostgreSQL still finds space for its log")
}

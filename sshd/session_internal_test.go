package sshd

import (
	"errors"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"
)

// The end of a channel takes the output for free where the last write is done.
func TestAWriteThatIsDoneHoldsNothing(t *testing.T) {
	t.Parallel()
	var g group
	defer g.wait()
	o := newOutput(torn{})
	for i := range 2000 {
		if err := o.within(10*time.Second, &g, []byte("line")); err != nil {
			t.Fatal(err)
		}
		if len(o.busy) != 0 {
			t.Fatalf("write %d is done and still holds the output", i)
		}
	}
}

// torn is a channel that takes everything but the end of file.
type torn struct{ gossh.Channel }

var errTorn = errors.New("the channel is torn")

func (torn) SendRequest(string, bool, []byte) (bool, error) { return false, nil }
func (torn) CloseWrite() error                              { return errTorn }
func (torn) Write(p []byte) (int, error)                    { return len(p), nil }

func TestAFailedEndOfFileDoesNotBlockLaterWrites(t *testing.T) {
	t.Parallel()
	s := &session{
		conn:    &connection{srv: &Server{cfg: Config{Limits: Limits{}.withDefaults()}}},
		channel: torn{}, in: newInput(), out: newOutput(torn{}),
	}
	if err := s.Exit(0); !errors.Is(err, errTorn) {
		t.Errorf("Exit: %v, want %v", err, errTorn)
	}
	var g group
	defer g.wait()
	if err := s.out.within(10*time.Second, &g, []byte("late")); err != nil {
		t.Errorf("a write after the end: %v", err)
	}
}

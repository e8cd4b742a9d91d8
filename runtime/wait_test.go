package runtime_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

func states(all ...hitchpost.State) hitchpost.WaitRequest { return hitchpost.WaitRequest{States: all} }

func TestWaitForWhatIsReachedAlready(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	s := r.start("job", "cat")
	got, err := r.Wait(ctx, viewer, s.Handle, states(hitchpost.Stopped, hitchpost.Detached))
	must(t, err)
	if got.ID != s.ID || got.State != hitchpost.Detached {
		t.Errorf("%+v", got)
	}
	_, err = r.Stop(ctx, admin, s.ID, hitchpost.StopRequest{})
	must(t, err)
	got, err = r.Wait(ctx, viewer, s.Handle, hitchpost.WaitRequest{})
	must(t, err)
	if got.State != hitchpost.Stopped {
		t.Errorf("%+v", got)
	}
	_, err = r.CloseSession(ctx, admin, s.ID)
	must(t, err)
	got, err = r.Wait(ctx, viewer, s.ID, states(hitchpost.Stopped))
	must(t, err)
	if got.Open() {
		t.Errorf("%+v", got)
	}
	_, err = r.Wait(ctx, viewer, s.ID, states(hitchpost.Running, hitchpost.Failed))
	kind(t, err, hitchpost.ConflictError)
	_, err = r.Wait(ctx, viewer, "none", hitchpost.WaitRequest{})
	kind(t, err, hitchpost.NotFoundError)
	_, err = r.Wait(ctx, hitchpost.Actor{}, s.ID, hitchpost.WaitRequest{})
	kind(t, err, hitchpost.DeniedError)
}

func TestAThousandWaitForTheEnd(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	s := r.start("job", "cat")
	const n = 1000
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			got, err := r.Wait(ctx, viewer, s.ID, hitchpost.WaitRequest{})
			for hitchpost.KindOf(err) == hitchpost.UnavailableError { // a loaded machine
				got, err = r.Wait(ctx, viewer, s.ID, hitchpost.WaitRequest{})
			}
			if err != nil || got.State != hitchpost.Failed {
				t.Errorf("%s, %v", got.State, err)
			}
		})
	}
	eventually(t, func() bool { return r.Waiting(s.ID) == n }, func() string { return "they do not come to wait" })
	r.send(s.ID, "", "C-c")
	wg.Wait()
	if left := r.Waiting(s.ID); left != 0 {
		t.Errorf("%d still follow", left)
	}
}

// A client that is there for a moment makes a session RUNNING for that moment.
func TestWaitSeesAStateOfAMoment(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	s := r.start("job", "cat")
	got := make(chan hitchpost.Session, 1)
	go func() {
		now, err := r.Wait(ctx, viewer, s.ID, states(hitchpost.Running))
		if err != nil {
			t.Error(err)
		}
		got <- now
	}()
	eventually(t, func() bool { return r.Waiting(s.ID) == 1 }, func() string { return "it does not wait" })
	v, err := r.Attach(ctx, admin, hitchpost.AttachRequest{Ref: s.ID, NoReplay: true})
	must(t, err)
	v.Close(hitchpost.EndDetached, "")
	if now := <-got; now.State != hitchpost.Running || now.Attached != 1 {
		t.Errorf("told of %+v", now)
	}
}

func TestWaitForASessionThatIsClosed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	s := r.start("job", "sh", "-c", "exit 1")
	r.becomes(s.ID, hitchpost.Failed)
	errs := make(chan error, 1)
	go func() {
		_, err := r.Wait(ctx, viewer, s.ID, states(hitchpost.Running))
		errs <- err
	}()
	eventually(t, func() bool { return r.Waiting(s.ID) == 1 }, func() string { return "it does not wait" })
	_, err := r.CloseSession(ctx, admin, s.ID)
	must(t, err)
	kind(t, <-errs, hitchpost.ConflictError)
}

func TestWaitEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.start("job", "cat")
	for _, limit := range []time.Duration{1, 50 * time.Millisecond} {
		_, err := r.Wait(context.Background(), viewer, s.ID, hitchpost.WaitRequest{Timeout: limit})
		kind(t, err, hitchpost.TimeoutError)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	gone := errors.New("the client is gone")
	errs := make(chan error, 2)
	wait := func(ctx context.Context) {
		_, err := r.Wait(ctx, viewer, s.ID, hitchpost.WaitRequest{Timeout: time.Hour})
		errs <- err
	}
	go wait(ctx)
	go wait(context.Background())
	eventually(t, func() bool { return r.Waiting(s.ID) == 2 }, func() string { return "they do not wait" })
	cancel(gone)
	if err := <-errs; !errors.Is(err, gone) {
		t.Errorf("cancelled: %v", err)
	}
	r.down()
	kind(t, <-errs, hitchpost.UnavailableError)
}

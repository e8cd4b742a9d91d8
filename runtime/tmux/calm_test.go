package tmux

import (
	"context"
	"sync"
	"syscall"
	"testing"
)

// Whoever leaves while tmux owes them an answer takes nothing of what others use along.
func TestACallThatIsGivenUpKeepsTheConnection(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	allParked(t, s)
	first, err := s.connected(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	server := pid(t, s)
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(server, syscall.SIGCONT) }()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	answered := make(chan error, 1)
	go func() {
		_, err := s.call(ctx, false, command{"display-message", "-p", "answer"})
		answered <- err
	}()
	eventually(t, "a question on its way", func() bool { return len(first.turn) == 0 })
	cancel()
	if err := syscall.Kill(server, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err != nil {
		t.Errorf("the answer: %v", err)
	}
	if again, err := s.connected(t.Context(), false); again != first || err != nil {
		t.Errorf("the connection was made again: %v", err)
	}
}

// tmux 3.3 ends, and with it all sessions, when it tells of a client that left while a control client comes up.
func TestViewsCloseWhileTheConnectionIsMade(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	start(t, s, "stays", sizes[0], sh("echo ready; exec cat")...)
	first := pid(t, s)
	for range 15 {
		var views []*View
		for range 8 {
			v, err := s.Attach(t.Context(), Attach{Session: "stays", Terminal: terminal(sizes[0])})
			if err != nil {
				t.Fatal(err)
			}
			views = append(views, v)
		}
		c, err := s.connected(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		var work sync.WaitGroup
		work.Go(func() {
			c.kill()
			if _, err := s.Panes(t.Context()); err != nil {
				t.Error(err)
			}
		})
		work.Go(func() {
			<-c.gone
			for _, v := range views { // one after the other, so that they spread over the time that it takes
				v.Close()
			}
		})
		work.Wait()
	}
	if got := pid(t, s); got != first {
		t.Errorf("process %d instead of %d", got, first)
	}
}

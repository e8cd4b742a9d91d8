package sshd_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/menu"
	"github.com/hitchpost/hitchpost/sshd"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// service is a fake of sshd.Service with sessions that are pipes.
type service struct {
	mu       sync.Mutex
	sessions []hitchpost.Session
	views    []*view
	requests []hitchpost.AttachRequest
	restarts int
	left     string // what the last process left behind
	last     string
	lastOf   map[string]string // by client
	attach   error             // what Attach fails with
	made     chan *view        // each view as it is made
}

func newService() *service { return &service{made: make(chan *view, 1000)} }

// add makes a session known.
func (s *service) add(handle string) hitchpost.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := hitchpost.Session{ID: "id-" + handle, Handle: handle, Title: handle, State: hitchpost.Detached}
	s.sessions = append(s.sessions, n)
	return n
}

func (s *service) Attach(_ context.Context, _ hitchpost.Actor, r hitchpost.AttachRequest) (sshd.View, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.attach != nil {
		return nil, s.attach
	}
	i := slices.IndexFunc(s.sessions, func(n hitchpost.Session) bool { return n.ID == r.Ref || n.Handle == r.Ref })
	if i < 0 {
		return nil, hitchpost.Errorf(hitchpost.NotFoundError, "no session %s", r.Ref).Hinted("see ls")
	}
	v := newView(s.sessions[i])
	s.requests = append(s.requests, r)
	s.views = append(s.views, v)
	s.made <- v
	return v, nil
}

func (s *service) Restart(_ context.Context, a hitchpost.Actor, ref string, r hitchpost.RestartRequest) (
	hitchpost.StartResult, error) {
	if err := a.Require(hitchpost.Drive); err != nil {
		return hitchpost.StartResult{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left != "" && !r.Force {
		return hitchpost.StartResult{}, hitchpost.Errorf(hitchpost.ConflictError, "it left %s behind", s.left).
			For("force").Hinted("end it, or start beside it")
	}
	s.restarts++
	return hitchpost.StartResult{}, nil
}

func (s *service) Snapshot() ([]hitchpost.Session, hitchpost.Status) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.sessions), hitchpost.Status{}
}

func (s *service) Last(context.Context, hitchpost.Actor) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

func (s *service) LastOf(_ context.Context, client string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastOf[client]
}

// view is a fake of sshd.View.
type view struct {
	session hitchpost.Session

	mu      sync.Mutex
	changed *sync.Cond
	output  []byte // not yet read
	typed   []byte
	sizes   []hitchpost.Size
	over    bool // the session has ended: EOF after output
	closed  bool
	end     hitchpost.AttachEnd
	done    chan struct{}
}

func newView(n hitchpost.Session) *view {
	v := &view{session: n, done: make(chan struct{})}
	v.changed = sync.NewCond(&v.mu)
	return v
}

// prints makes the session print.
func (v *view) prints(p string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.output = append(v.output, p...)
	v.changed.Broadcast()
}

// exits ends the session with a code.
func (v *view) exits(code int) {
	v.ends(hitchpost.AttachEnd{
		Reason: hitchpost.EndExited, Session: v.session, Exit: &hitchpost.Exit{Code: &code},
	})
}

func (v *view) ends(e hitchpost.AttachEnd) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.over || v.closed {
		return
	}
	v.over, v.end = true, e
	close(v.done)
	v.changed.Broadcast()
}

func (v *view) Read(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(v.output) == 0 || v.closed {
		if v.over || v.closed {
			return 0, io.EOF
		}
		v.changed.Wait()
	}
	return v.take(p), nil
}

func (v *view) ReadReady(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.output) == 0 && (v.over || v.closed) {
		return 0, io.EOF
	}
	return v.take(p), nil
}

func (v *view) take(p []byte) int {
	n := copy(p, v.output)
	v.output = v.output[n:]
	return n
}

func (v *view) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.typed = append(v.typed, p...)
	v.changed.Broadcast()
	return len(p), nil
}

func (v *view) Resize(s hitchpost.Size) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sizes = append(v.sizes, s)
	return nil
}

func (v *view) Session() hitchpost.Session { return v.session }
func (v *view) Done() <-chan struct{}      { return v.done }

func (v *view) End() hitchpost.AttachEnd {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.end
}

func (v *view) Close(r hitchpost.EndReason, message string) hitchpost.AttachEnd {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.over && !v.closed {
		v.end = hitchpost.AttachEnd{Reason: r, Session: v.session, Message: message}
		close(v.done)
	}
	v.closed = true
	v.changed.Broadcast()
	return v.end
}

func (v *view) input() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return string(v.typed)
}

func (v *view) lastSize() hitchpost.Size {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.sizes) == 0 {
		return hitchpost.Size{}
	}
	return v.sizes[len(v.sizes)-1]
}

func (v *view) isClosed() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.closed
}

// picker is a fake of the menu: it reads ahead as much as it can, like the real one, and gives back what it did not
// use. Enter takes the first session that sees, j is echoed, q leaves, p panics.
type picker struct {
	sees *service // nil: nothing can be chosen
	mu   sync.Mutex
	reqs []menu.Config
	ends int
}

func (p *picker) Pick(ctx context.Context, r menu.Config) (menu.Choice, error) {
	p.mu.Lock()
	p.reqs = append(p.reqs, r)
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.ends++
		p.mu.Unlock()
	}()
	defer context.AfterFunc(ctx, r.In.Interrupt)()
	fmt.Fprintf(r.Out, "[menu %dx%d %s %s]\n", r.Terminal.Size.Cols, r.Terminal.Size.Rows, r.Terminal.Name, r.Notice)
	buf := make([]byte, 256)
	for {
		n, err := r.In.Read(buf)
		if err != nil {
			return menu.Choice{}, errors.Join(context.Cause(ctx), err)
		}
		for i, c := range buf[:n] {
			switch c {
			case 'q':
				r.In.Unread(buf[i+1 : n])
				return menu.Choice{}, nil
			case 'p':
				panic("a fault in the picker")
			case '\r':
				r.In.Interrupt()
				r.In.Unread(buf[i+1 : n])
				known, _ := p.sees.Snapshot()
				return menu.Choice{Attach: known[0].ID}, nil
			case 'j':
				fmt.Fprint(r.Out, "[down]")
			}
		}
	}
}

func (p *picker) counts() (runs, ends int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.reqs), p.ends
}

// floodChunks is how often flood writes 32 KiB: more than a window holds.
const floodChunks = 200

// commands is a fake of command mode.
type commands struct {
	mu    sync.Mutex
	calls []command.Invocation
}

func (c *commands) Run(ctx context.Context, call command.Invocation) int {
	c.mu.Lock()
	c.calls = append(c.calls, call)
	c.mu.Unlock()
	if len(call.Words) == 0 {
		call.Words = []string{"ls"}
	}
	switch call.Words[0] {
	case "ls":
		fmt.Fprint(call.Stdout, "HANDLE\nweb\n")
		return 0
	case "whoami":
		fmt.Fprintf(call.Stdout, "%s %s\n", call.Actor.Name, call.Actor.Login)
		return 0
	case "words":
		fmt.Fprintf(call.Stdout, "%q\n", call.Words[1:])
		return 0
	case "cat":
		io.Copy(call.Stdout, call.Stdin)
		return 0
	case "exit3":
		fmt.Fprint(call.Stderr, "three\n")
		return 3
	case "attach":
		return call.Attach(ctx, hitchpost.AttachRequest{Ref: call.Words[1]})
	case "wait":
		fmt.Fprint(call.Stdout, "waiting\n")
		<-ctx.Done()
		return 1
	case "flood":
		for range floodChunks {
			if _, err := call.Stdout.Write(make([]byte, 32<<10)); err != nil {
				return 1
			}
		}
		fmt.Fprint(call.Stdout, "the tail")
		return 0
	case "stream":
		for {
			if _, err := call.Stream.Write(make([]byte, 32<<10)); err != nil {
				return hitchpost.KindOf(context.Cause(ctx)).ExitStatus()
			}
		}
	case "panic":
		panic("a fault in a command")
	}
	fmt.Fprintf(call.Stderr, "hitchpost: unknown verb %q\n", call.Words[0])
	return 2
}

func (c *commands) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.calls)
}

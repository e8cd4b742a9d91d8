package runtime

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/inside"
	"github.com/hitchpost/hitchpost/runtime/tmux"
	"github.com/hitchpost/hitchpost/store"
)

// Config is what a Service needs. All fields without a note must be set.
type Config struct {
	Store   *store.Store
	Tmux    *tmux.Server
	Node    hitchpost.Node // this machine, as the store knows it
	DataDir string         // absolute
	Wrapper []string       // the program and words that tmux starts for a session, before the path of its spec; absolute
	Runner  []string       // the same for a task, before the path of its folder
	Account Account
	Version string
	Log     *slog.Logger

	ReconcileEvery time.Duration
	EventRetention time.Duration
	ReplayLines    int
	TaskRetention  time.Duration // how long a task is kept after its end; 0: for ever
	TaskSpace      int64         // bytes that the files of ended tasks may take together; 0: any number
}

// Account is whose sessions this node runs, and the environment that they are built from.
type Account struct {
	User, Home, Shell string
	Getenv            func(string) string // of the service; only what launch.Environment names is read
}

// Service does what people and scripts ask of sessions, and keeps the store true while Run runs. Its methods may be
// called from any goroutine. Every method that does or shows something for an actor checks the role first; errors are
// of the kinds of package hitchpost.
type Service struct {
	Config
	folder   folder
	board    *board
	keys     *keyring
	ledger   *ledger
	book     *eventBook
	views    *views
	places   *places
	tasks    *taskBook
	agents   *agentBook
	typing   *turns
	kept     evidenceLog
	disk     disk
	procs    disk
	underway underway
	claims   *claims
	clashes  *clashes
	inside   inside.Key    // nil: it could not be had, and sessions have no way in
	absent   chan struct{} // holds a token of the start that must find its handle free
	busy     sync.Map      // ids of sessions that a step of the reconciler is at work on
	started  time.Time
	ready    chan struct{} // closed once the first reconcile pass was tried
	wake     chan struct{} // asks for a reconcile pass; holds one
	work     sync.WaitGroup
	// background outlives a request whose work must be finished, such as a stop; it ends with Run.
	background context.Context //nolint:containedctx // see above
	stop       context.CancelCauseFunc
}

// errServiceStops is the cause of the end of everything when Run ends.
var errServiceStops = hitchpost.Errorf(hitchpost.UnavailableError, "the service is stopping").
	Hinted("connect again in a moment")

// New makes a service and reads the store once, so that it can answer at once. Nothing runs until Run.
func New(ctx context.Context, c Config) (*Service, error) {
	now := time.Now()
	s := &Service{
		Config:  c,
		folder:  folder{c.DataDir},
		board:   newBoard(now),
		keys:    newKeyring(),
		ledger:  newLedger(c.Log),
		book:    newEventBook(),
		views:   newViews(),
		places:  newPlaces(),
		tasks:   newTaskBook(),
		agents:  newAgentBook(),
		typing:  newTurns(),
		disk:    newDisk(),
		procs:   newProcesses(),
		claims:  newClaims(),
		clashes: newClashes(),
		absent:  make(chan struct{}, 1),
		kept:    evidenceLog{of: map[string]saving{}},
		started: now,
		ready:   make(chan struct{}),
		wake:    make(chan struct{}, 1),
	}
	s.background, s.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := s.folder.make(); err != nil {
		return nil, err
	}
	var err error
	if s.inside, err = inside.OpenKey(s.folder.insideKey()); err != nil {
		c.Log.Warn("sessions get no way to reach the service", "err", err)
	}
	if err := s.folder.sweep(); err != nil {
		c.Log.Warn("what a killed service left is not swept away", "err", err)
	}
	if err := s.Store.DropAttachments(ctx, c.Node.ID); err != nil {
		return nil, err
	}
	return s, s.reread(ctx)
}

// Run keeps the store, the board and tmux in step until ctx ends, and returns when all that it and the service
// started has ended. Sessions live on.
func (s *Service) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	books, closeBooks := context.WithCancel(context.WithoutCancel(ctx))
	defer closeBooks()
	var g errgroup.Group
	g.Go(func() error { s.ledger.run(books); return nil })
	g.Go(func() error {
		defer closeBooks() // last, so that the detaches of the shutdown are written down
		var loops errgroup.Group
		for _, loop := range []func(context.Context) error{
			s.listen, s.reconcileLoop, s.watchExits, s.watchTasks, s.watchTmux, s.placeLoop, s.evidenceLoop, s.retentionLoop,
			s.healthLoop, s.rereadLoop, s.comersLoop, s.agentLoop, s.insideLoop, s.clashLoop, s.checkpointLoop,
		} {
			loops.Go(func() error {
				defer cancel() // one that ends early ends all
				return loop(ctx)
			})
		}
		<-ctx.Done()
		s.views.closeAll(hitchpost.EndCut, errServiceStops.Error())
		err := loops.Wait()
		s.stop(errServiceStops)
		s.work.Wait()
		return err
	})
	return g.Wait()
}

// goDo runs f in a goroutine that Run waits for.
func (s *Service) goDo(f func()) {
	s.work.Go(f)
}

// Wake asks for a reconcile pass soon. It never blocks.
func (s *Service) Wake() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// listen keeps board and keyring fresh by the store's notices.
func (s *Service) listen(ctx context.Context) error {
	err := s.Store.Listen(ctx, func(n store.Notice) error { return s.heed(ctx, n) })
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func (s *Service) heed(ctx context.Context, n store.Notice) error {
	switch n.Topic {
	case store.TopicSession:
		was, _ := s.board.get(n.ID)
		if err := s.rereadSession(ctx, n.ID); err != nil {
			return err
		}
		if now, _ := s.board.get(n.ID); now.State != was.State || now.Restarts != was.Restarts {
			s.Wake() // another service changed it: this one's own changes are on the board before their notice
		}
		return nil
	case store.TopicKey:
		return s.rereadKeys(ctx)
	case store.TopicEvent:
		s.book.appended.ring()
		return nil
	case store.TopicTask:
		s.tasks.ended.ring()
		return nil
	default:
		s.book.appended.ring()
		s.Wake()
		return s.reread(ctx)
	}
}

// reread takes everything anew from the store.
func (s *Service) reread(ctx context.Context) error {
	if err := s.rereadKeys(ctx); err != nil {
		return err
	}
	mark := s.board.mark()
	sessions, err := s.Store.Sessions(ctx, hitchpost.ListRequest{})
	if err != nil {
		return err
	}
	nodes, err := s.Store.Nodes(ctx)
	if err != nil {
		return err
	}
	s.board.replace(mark, sessions, nodes)
	return nil
}

func (s *Service) rereadSession(ctx context.Context, id string) error {
	got, err := s.Store.Session(ctx, id)
	switch {
	case hitchpost.KindOf(err) == hitchpost.NotFoundError:
		s.board.drop(id)
		return nil
	case err != nil:
		return err
	}
	s.board.put(got)
	return nil
}

func (s *Service) rereadKeys(ctx context.Context) error {
	reading := s.keys.ask()
	keys, err := s.Store.Keys(ctx)
	if err != nil {
		return err
	}
	s.keys.replace(reading, keys)
	return nil
}

const (
	// healthEvery is how often the database is asked for a sign of life.
	healthEvery = 3 * time.Second
	// rereadEvery is how often everything is read again although no notice came: one may have been missed.
	rereadEvery = 30 * time.Second
)

// healthLoop notices that the database went away or came back, for the picker and for status.
func (s *Service) healthLoop(ctx context.Context) error {
	return every(ctx, healthEvery, func() { s.checkDatabase(ctx) })
}

// rereadLoop keeps board and keyring true where notices fail. A reading that failed is made again soon: nobody is let
// in or shut out by what it did not say.
func (s *Service) rereadLoop(ctx context.Context) error {
	for {
		wait := rereadEvery
		if err := s.reread(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("store not read again", "err", err)
			wait = healthEvery
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *Service) checkDatabase(ctx context.Context) {
	err := s.Store.Usable(ctx)
	if ctx.Err() != nil {
		return
	}
	reason := ""
	if err != nil {
		reason = err.Error()
	}
	if !s.board.setDatabase(err == nil, reason, time.Now()) {
		return
	}
	if err != nil {
		s.Log.Error("database away", "err", err)
		return
	}
	s.Log.Info("database back")
	s.Wake()
}

// every calls f at once and then each d until ctx ends. It returns nil.
func every(ctx context.Context, d time.Duration, f func()) error {
	t := time.NewTicker(d)
	defer t.Stop()
	for {
		f()
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// Ready is closed once the first reconcile pass of Run is over, so that what a reboot took is known to be lost. It is
// closed too when the pass could not be made.
func (s *Service) Ready() <-chan struct{} { return s.ready }

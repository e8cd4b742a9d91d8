package runtime

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// board is the service's memory of every open session, kept fresh by notices from the store and by the service's own
// writes. It answers what must not wait for a database: the picker's list, an attach, the sessions shown while the
// database is away. The store stays the truth; the board is re-read from it.
type board struct {
	mu       sync.Mutex
	sessions map[string]hitchpost.Session
	puts     map[string]int // which put an entry is from
	count    int            // of all puts
	database hitchpost.Part
	nodes    []hitchpost.Node
	changed  chan struct{} // closed and replaced at each change

	trails map[string]map[*trail]bool // by the session's id
}

func newBoard(now time.Time) *board {
	return &board{
		sessions: map[string]hitchpost.Session{},
		puts:     map[string]int{},
		database: hitchpost.Part{OK: true, Since: now},
		changed:  make(chan struct{}),

		trails: map[string]map[*trail]bool{},
	}
}

// next returns a channel that is closed at the next change after the call.
func (b *board) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

// wake tells every waiter; the lock is held.
func (b *board) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// mark is the moment before a reading of the store, for replace.
func (b *board) mark() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// replace takes a full reading of the store that began at mark. What was put since is newer than the reading, and of
// two readings of a session the one with the higher revision is.
func (b *board) replace(mark int, sessions []hitchpost.Session, nodes []hitchpost.Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fresh := make(map[string]hitchpost.Session, len(sessions))
	for _, s := range sessions {
		fresh[s.ID] = s
	}
	for id, s := range b.sessions {
		read, ok := fresh[id]
		if !ok && b.puts[id] > mark || ok && s.Revision > read.Revision {
			fresh[id] = s
		}
	}
	maps.DeleteFunc(b.puts, func(id string, _ int) bool { _, ok := fresh[id]; return !ok })
	b.sessions, b.nodes = fresh, nodes
	for id := range b.trails {
		if now, ok := fresh[id]; ok {
			b.tell(now)
		} else {
			b.tellLeft(id)
		}
	}
	b.wake()
}

// put takes one session as the store had it a moment ago; a closed one leaves the board. A reading that was overtaken
// by a newer one changes nothing.
func (b *board) put(s hitchpost.Session) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tell(s)
	if b.sessions[s.ID].Revision > s.Revision {
		return
	}
	b.count++
	if s.Open() {
		b.sessions[s.ID], b.puts[s.ID] = s, b.count
	} else {
		delete(b.sessions, s.ID)
		delete(b.puts, s.ID)
	}
	b.wake()
}

// printed takes times of the last output as they are now known. The store tells nobody of these.
func (b *board) printed(outputs []store.Output) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, o := range outputs {
		if s, ok := b.sessions[o.ID]; ok {
			s.LastOutputAt = o.At
			b.sessions[o.ID] = s
		}
	}
	b.wake()
}

func (b *board) drop(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, id)
	b.tellLeft(id)
	b.wake()
}

// setDatabase records the database's health and reports whether that is news.
func (b *board) setDatabase(ok bool, reason string, now time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.database.OK == ok {
		return false
	}
	b.database = hitchpost.Part{OK: ok, Reason: reason, Since: now}
	b.wake()
	return true
}

// setNode records the state of one node and reports whether that is news.
func (b *board) setNode(n hitchpost.Node) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.nodes, func(o hitchpost.Node) bool { return o.ID == n.ID })
	switch {
	case i < 0:
		b.nodes = append(slices.Clone(b.nodes), n)
	case b.nodes[i].State == n.State:
		return false
	default:
		b.nodes = slices.Clone(b.nodes)
		b.nodes[i] = n
	}
	b.wake()
	return true
}

func (b *board) databaseOK() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.database.OK
}

func (b *board) get(id string) (hitchpost.Session, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	s, ok := b.sessions[id]
	return s, ok
}

// named finds an open session by its handle or full id.
func (b *board) named(ref string) (hitchpost.Session, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s, ok := b.sessions[ref]; ok {
		return s, true
	}
	for _, s := range b.sessions {
		if s.Handle == ref {
			return s, true
		}
	}
	return hitchpost.Session{}, false
}

// all returns the open sessions in the order they were made, and the health of database and nodes.
func (b *board) all() ([]hitchpost.Session, hitchpost.Part, []hitchpost.Node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := slices.SortedFunc(maps.Values(b.sessions), func(x, y hitchpost.Session) int {
		return cmp.Or(x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
	return out, b.database, slices.Clone(b.nodes)
}

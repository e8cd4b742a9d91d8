package runtime

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

const (
	// factsEvery is how often a transcript that grows is read at most, where no hook tells of the end of a turn.
	factsEvery = 10 * time.Second
	// factsLag is for how long after a hook it may be that Claude Code has not written down what the hook told of.
	factsLag = 2 * time.Second
	// factsTime is how long one reading may take. What is left then is read the next time.
	factsTime = 2 * time.Second
)

// facts is what transcripts in one config directory tell of the sessions that write them. They are read one after another,
// in a goroutine of their own: they may be large, and nobody's state waits for them.
type facts struct {
	wish chan struct{} // asks for a reading; holds one

	mu     sync.Mutex
	wanted map[string]factsWish // by session
	told   map[string]factsTold
}

// factsWish asks for the facts of a conversation.
type factsWish struct {
	conversation string
	transcript   string // where it was last; empty: not known
}

// factsTold is what a transcript told when it was read last.
type factsTold struct {
	conversation string
	transcript   string // empty: there is none
	read         bool   // the rest was read, once
	claude.Facts
	tokens claude.Tokens
	err    error
}

func newFacts() facts {
	return facts{wish: make(chan struct{}, 1), wanted: map[string]factsWish{}, told: map[string]factsTold{}}
}

// ask asks for the facts of a session anew. It never blocks.
func (f *facts) ask(session hitchpost.Session) {
	f.mu.Lock()
	f.wanted[session.ID] = factsWish{session.ConversationID, session.Agent.Transcript}
	f.mu.Unlock()
	select {
	case f.wish <- struct{}{}:
	default:
	}
}

// tell puts what is known of a session's conversation into agent.
func (f *facts) tell(session hitchpost.Session, agent *hitchpost.Agent) error {
	f.mu.Lock()
	t, ok := f.told[session.ID]
	f.mu.Unlock()
	if !ok || t.conversation != session.ConversationID {
		return nil
	}
	agent.Transcript = t.transcript
	if t.read {
		agent.Title, agent.LastPrompt, agent.LastAnswer = t.Title, t.LastPrompt, t.LastAnswer
		agent.TokensIn, agent.TokensOut, agent.ContextTokens = t.tokens.In, t.tokens.Out, t.Context
	}
	return t.err
}

// forget drops what is known of others than these sessions.
func (f *facts) forget(others map[string]bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id := range f.told {
		if !others[id] {
			delete(f.told, id)
			delete(f.wanted, id)
		}
	}
}

// next takes a wish.
func (f *facts) next() (session string, w factsWish, was factsTold, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for session, w := range f.wanted {
		delete(f.wanted, session)
		return session, w, f.told[session], true
	}
	return "", factsWish{}, factsTold{}, false
}

// readFacts reads what is asked for.
func (d *configDir) readFacts() {
	readers := map[string]*factReader{}
	for {
		select {
		case <-d.stop:
			return
		case <-d.wish:
		}
		for session, w, was, ok := d.next(); ok; session, w, was, ok = d.next() {
			if readers[session] == nil {
				readers[session] = &factReader{}
			}
			now, changed := readers[session].read(d.path, w, was)
			if !changed {
				continue
			}
			d.facts.mu.Lock()
			d.told[session] = now
			d.facts.mu.Unlock()
			d.news()
			if !d.rest(0) {
				return
			}
		}
		d.facts.mu.Lock()
		for session := range readers {
			if _, ok := d.told[session]; !ok {
				delete(readers, session)
			}
		}
		d.facts.mu.Unlock()
	}
}

// factReader reads one session's transcripts as they grow.
type factReader struct {
	path  string
	size  int64
	mod   time.Time
	tally claude.Tally
}

// read reads the transcript where it has changed since.
func (f *factReader) read(dir string, w factsWish, was factsTold) (now factsTold, changed bool) {
	ctx, cancel := context.WithTimeout(context.Background(), factsTime)
	defer cancel()
	now = factsTold{conversation: w.conversation, transcript: w.transcript}
	if was.conversation == w.conversation {
		now = was
	}
	about, err := os.Stat(now.transcript)
	if err != nil { // it may be elsewhere now, or come later
		now.transcript, _, now.err = claude.FindTranscript(ctx, dir, w.conversation)
		if now.transcript == "" {
			return now, true
		}
		if about, err = os.Stat(now.transcript); err != nil {
			return now, true
		}
	}
	if now.transcript == f.path && about.Size() == f.size && about.ModTime().Equal(f.mod) {
		return now, false
	}
	now.Facts, now.err = claude.ReadFacts(ctx, now.transcript)
	if now.err != nil {
		return now, true
	}
	now.tokens, now.err = f.tally.Read(ctx, now.transcript)
	if errors.Is(now.err, context.DeadlineExceeded) {
		now.tokens.Whole, now.err = false, nil
	}
	now.read = now.read || now.err == nil
	f.path, f.size, f.mod = now.transcript, about.Size(), about.ModTime()
	if !now.tokens.Whole {
		f.size = -1 // there is more to count
	}
	return now, true
}

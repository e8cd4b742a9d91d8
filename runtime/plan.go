package runtime

import (
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
	"github.com/hitchpost/hitchpost/runtime/tmux"
)

// runKey names one run of one session: the process that its start or its n-th restart made.
type runKey struct {
	session string
	run     int
}

// observation is what one look at the machine gave. It exists only where tmux gave a healthy and complete answer:
// a failed look is no observation, so nothing can be concluded from it.
type observation struct {
	panes   map[string]tmux.Pane     // by session id
	tasks   []tmux.Pane              // those of tasks
	records map[runKey]launch.Record // exit records on disk, for every run the plan may ask about
	// underway is the sessions whose start or stop this service is carrying out.
	underway map[string]bool
}

// stepKind is what a step does.
type stepKind string

const (
	stepStarted  stepKind = "started"  // a start whose service died was in fact completed
	stepExit     stepKind = "exit"     // the process ended: keep the evidence, record how
	stepLost     stepKind = "lost"     // a healthy tmux does not know it
	stepFound    stepKind = "found"    // tmux runs what the store holds as ended
	stepAdopt    stepKind = "adopt"    // tmux runs what the store does not know
	stepClear    stepKind = "clear"    // an ended session still has a pane
	stepStopOver stepKind = "stopover" // a stop whose service died is carried out
	stepOutput   stepKind = "output"   // only the time of the last output moved
)

// step is one thing to do about one session.
type step struct {
	kind    stepKind
	id      string
	session hitchpost.Session // as the store held it when the plan was made; zero for adopt
	pane    tmux.Pane         // zero where there is none
	exit    hitchpost.Exit    // for stepExit
	reason  string            // for stepExit, where the end needs words
}

// plan compares what the store remembers of this node with an observation made after it was read, and says what to
// do. It is pure; now is by the store's clock, which may be set at any time: only a lease of a start or stop that nobody
// here knows of is judged by it. The stored sessions must have been read before tmux was asked: a session that appears
// in between is then a pane the plan takes for unknown, which acting finds out, and never a session taken for lost.
func plan(now time.Time, stored []hitchpost.Session, seen observation) []step {
	var steps []step
	known := make(map[string]bool, len(stored))
	for _, s := range stored {
		known[s.ID] = true
		if st, ok := planOne(now, s, seen); ok {
			steps = append(steps, st)
		}
	}
	for id, p := range seen.panes {
		if !known[id] {
			steps = append(steps, step{kind: stepAdopt, id: id, pane: p})
		}
	}
	return steps
}

func planOne(now time.Time, s hitchpost.Session, seen observation) (step, bool) {
	pane, has := seen.panes[s.ID]
	st := step{id: s.ID, session: s, pane: pane}
	if s.State.Ended() {
		return planEnded(st, has, seen)
	}
	rec, over := seen.records[runKey{s.ID, s.Restarts}]
	if over && rec.Hangup && s.State.Live() {
		st.kind = stepLost // it ended because tmux was killed, or its session was: not of itself
		return st, true
	}
	if over {
		st.kind, st.exit, st.reason = stepExit, rec.Exit, rec.Error
		return st, true
	}
	leased := seen.underway[s.ID] || s.Leased(now)
	switch {
	case has && pane.Run > s.Restarts && !pane.Dead:
		// A store restored from an older backup: tmux is ahead of it.
		st.kind = stepFound
	case (!has || pane.Run != s.Restarts) && leased && (s.State == hitchpost.Starting):
		return step{}, false
	case !has || pane.Run != s.Restarts:
		st.kind = stepLost
	case pane.Dead:
		// The wrapper writes its record before it exits, and records are read after panes: there is none to come.
		st.kind, st.exit, st.reason = stepExit, deadExit(now, pane), "its end was not recorded; this is what tmux saw"
	case s.State == hitchpost.Starting && !leased:
		st.kind = stepStarted
	case s.State == hitchpost.Stopping && !leased:
		st.kind = stepStopOver
	case s.State.Live() && printed(now, s.LastOutputAt, pane.LastOutput):
		st.kind = stepOutput
	default:
		return step{}, false
	}
	return st, true
}

// ahead is how far ahead a noted time may be of now without being wrong: clocks of two machines are never the same.
const ahead = time.Minute

// printed reports whether seen is news of a last output noted before. What was noted while a clock was set far ahead is
// no measure of what is new.
func printed(now, noted, seen time.Time) bool {
	return seen.After(noted) || noted.After(now.Add(ahead)) && seen.Before(noted)
}

func planEnded(st step, has bool, seen observation) (step, bool) {
	if !has {
		return step{}, false
	}
	_, over := seen.records[runKey{st.id, st.pane.Run}]
	if st.pane.Dead || over || st.pane.Run < st.session.Restarts {
		st.kind = stepClear
	} else {
		st.kind = stepFound
	}
	return st, true
}

// deadExit is the end of a process as tmux alone saw it. Both values are at times missing (see the tmux package), and
// then the end is known and its manner is not.
func deadExit(now time.Time, p tmux.Pane) hitchpost.Exit {
	return hitchpost.Exit{Code: p.DeadCode, Signal: p.DeadSignal, At: now}
}

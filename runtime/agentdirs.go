package runtime

import (
	"errors"
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

const (
	// registerEvery is how often a register is read although nothing has changed in it: processes end without a word.
	registerEvery = time.Second
	// registerSilent is for how long a register may not answer.
	registerSilent = 3 * time.Second
	// registerRest and registerPause are the least and the longest pause between two readings, and registerShare is how
	// many times as long as a reading it is: many busy agents change their register all the time.
	registerRest, registerPause, registerShare = 10 * time.Millisecond, 200 * time.Millisecond, 4
)

// configDirs are the config directories of the agents that run. What is read there is read beside those who look at the
// agents, for each directory by itself: one on a disk that hangs holds up nobody but its own agents.
type configDirs struct {
	news func() // tells that something was read
	dirs map[string]*configDir
}

// configDir is a config directory and what was read there.
type configDir struct {
	path string
	news func()
	stop chan struct{}
	facts

	mu   sync.Mutex
	last reading
}

// reading is what a register held.
type reading struct {
	entries []claude.Entry
	err     error
	at      time.Time // when it was there; where there is none yet, since when one is waited for
	none    bool      // there is none yet
}

var errRegisterSilent = errors.New("the disk does not answer")

// trouble is why the register cannot be relied on now; nil: it can.
func (r reading) trouble(now time.Time) error {
	if r.err == nil && now.Sub(r.at) > registerSilent {
		return errRegisterSilent
	}
	return r.err
}

func newConfigDirs(news func()) *configDirs {
	return &configDirs{news, map[string]*configDir{}}
}

// keep reads in the config directories of these sessions, and in no others.
func (c *configDirs) keep(sessions []hitchpost.Session) {
	used := map[string]map[string]bool{}
	for _, session := range sessions {
		dir := session.Agent.ConfigDir
		if used[dir] == nil {
			used[dir] = map[string]bool{}
		}
		used[dir][session.ID] = true
		if c.dirs[dir] == nil {
			c.dirs[dir] = followDir(dir, c.news)
		}
	}
	for dir, d := range c.dirs {
		if used[dir] == nil {
			close(d.stop)
			delete(c.dirs, dir)
			continue
		}
		d.forget(used[dir])
	}
}

// readings is what each register held when it was read last.
func (c *configDirs) readings() map[string]reading {
	all := make(map[string]reading, len(c.dirs))
	for dir, d := range c.dirs {
		d.mu.Lock()
		all[dir] = d.last
		d.mu.Unlock()
	}
	return all
}

// of is the config directory of a session that keep was given.
func (c *configDirs) of(session hitchpost.Session) *configDir { return c.dirs[session.Agent.ConfigDir] }

// close ends all reading. What hangs is not waited for: it ends when the disk answers.
func (c *configDirs) close() {
	for _, d := range c.dirs {
		close(d.stop)
	}
}

func followDir(path string, news func()) *configDir {
	d := &configDir{path: path, news: news, stop: make(chan struct{}), last: reading{at: time.Now(), none: true}}
	d.facts = newFacts()
	go d.follow()
	go d.readFacts()
	return d
}

// follow reads the register when it has changed, and now and then.
func (d *configDir) follow() {
	watch := claude.WatchDir(claude.RegistryDir(d.path))
	defer watch.Close()
	t := time.NewTicker(registerEvery)
	defer t.Stop()
	for {
		began := time.Now()
		entries, err := claude.ReadRegistry(d.path)
		d.mu.Lock()
		d.last = reading{entries: entries, err: err, at: time.Now()}
		d.mu.Unlock()
		d.news()
		if !d.rest(min(max(registerRest, registerShare*time.Since(began)), registerPause)) {
			return
		}
		select {
		case <-d.stop:
			return
		case <-watch.Wake():
		case <-t.C:
		}
	}
}

// rest waits, and is false when the directory is no longer of interest.
func (d *configDir) rest(pause time.Duration) bool {
	select {
	case <-d.stop:
		return false
	case <-time.After(pause):
		return true
	}
}

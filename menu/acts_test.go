package menu

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// TestKeysAct presses the keys of each act and looks at what the service is asked, and at what it is not.
func TestKeysAct(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, keys string
		see        []string // one after the other
		asked      string   // empty: nothing
	}{
		{"stop", "/deploy<enter>xy", []string{"deploy-shell is RUNNING"}, "stop 0190a1b2-0004"},
		{"stop and no", "/deploy<enter>xn", []string{"enter attach"}, ""},
		{"enter confirms nothing", "/deploy<enter>x<enter>", []string{"y stop"}, ""},
		{"stop what has ended", "/train<enter>x", []string{"has no process to stop"}, ""},
		{"restart", "/train<enter>r", []string{"train runs again"}, "restart 0190a1b2-0005"},
		{"restart what lives", "/docs<enter>r", []string{"docs is WAITING_FOR_INPUT: stop it first"}, ""},
		{"restart from the offer", "/migrate<enter><enter>r", []string{"migrate-db runs again"}, "restart 0190a1b2-0006"},
		{"enter restarts nothing", "/train<enter><enter><enter><enter>", []string{"its process is gone", "enter restart"}, ""},
		{"restart from the card", "/train<enter><enter>r", []string{"train runs again"}, "restart 0190a1b2-0005"},
		{"enter on a card attaches", "/docs<enter>i", []string{"tmux runs it", "enter attach"}, ""},
		{"close from the card", "/train<enter>ic", []string{"cannot be restarted"}, ""},
		{"close what ended", "/notes<enter>c", []string{"notes is off the list"}, "close 0190a1b2-0007"},
		{"close what was lost asks", "/train<enter>c", []string{"cannot be restarted"}, ""},
		{"close what was lost", "/train<enter>cy", []string{"train is off the list"}, "close 0190a1b2-0005"},
		{"close what lives", "/docs<enter>c", []string{"docs is WAITING_FOR_INPUT: stop it first"}, ""},
		{"rename", "/docs<enter>R<ctrl-u>Big docs<enter>", []string{"the handle is now docs"}, `rename 0190a1b2-0003 "Big docs"`},
		{"rename to nothing", "/docs<enter>R<ctrl-u><enter>", []string{"needs a title"}, ""},
		{"rename and no", "/docs<enter>Rx<ctrl-c>", []string{"enter attach"}, ""},
		{"complete the home", "n<up><ctrl-u>~<tab>", []string{"> directory  ~/"}, `complete "~/"`},
		{"help", "?", []string{"RECOVERABLE", "live, nobody attached"}, ""},
		{"filter follows each key", "/rank", []string{"1 of 8 sessions", "ranking@7f3c2d1"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := sit(t, newFake(team()...), nil)
			s.see("checkout-flow")
			s.hand.press(c.keys)
			for _, text := range c.see {
				s.see(text)
			}
			if c.asked != "" {
				s.asked(c.asked)
			}
			if got := s.fake.called(); got != c.asked {
				t.Errorf("the service was asked %q, want %q", got, c.asked)
			}
		})
	}
}

func TestNewSession(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	f.complete = func(prefix string) ([]string, error) {
		if prefix == "/srv/" {
			return []string{"/srv/docs", "/srv/docs-old"}, nil
		}
		return []string{"/srv/docs-old"}, nil
	}
	s := sit(t, f, nil)
	s.hand.press("nNight build<tab> <tab>make \"the lot\"<tab><ctrl-u>/srv/<tab>")
	s.see("/srv/docs-old")
	s.hand.press("-<tab>")
	s.until("completed directory", func() bool { return strings.Contains(s.glass.text(), "> directory  /srv/docs-old/") })
	s.hand.press("<enter>bytes for the session")
	got, err := s.left()
	if err != nil || got.Attach != "new" {
		t.Errorf("choice %+v, %v", got, err)
	}
	s.asked(`start title="Night build" kind=command cwd="/srv/docs-old/" args=["make" "the lot"]`)
	// Keys typed while the session starts are not for it: it was not there yet.
	if after := s.hand.next(); !strings.HasSuffix("bytes for the session", after) {
		t.Errorf("%q came back", after)
	}
}

// TestAnActOutlivesThePicker confirms a stop and leaves in the same packet.
func TestAnActOutlivesThePicker(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{true, false} {
		f := newFake(team()...)
		ended := make(chan struct{})
		release := make(chan struct{})
		f.act = func(ctx context.Context, _, _ string) (hitchpost.StartResult, error) {
			<-release
			if ctx.Err() == nil {
				close(ended)
			}
			return hitchpost.StartResult{}, nil
		}
		s := sit(t, f, func(c *Config) {
			if own {
				c.Background = func(work func()) { go work() }
			}
		})
		s.hand.press("/deploy<enter>xyq")
		if own {
			if got, err := s.left(); err != nil || got.Attach != "" {
				t.Errorf("choice %+v, %v", got, err)
			}
		} else {
			s.asked("stop")
		}
		close(release)
		s.until("end of the stop", func() bool {
			select {
			case <-ended:
				return true
			default:
				return false
			}
		})
		if got, err := s.left(); err != nil || got.Attach != "" {
			t.Errorf("choice %+v, %v", got, err)
		}
	}
}

func TestSlowActShowsASpinnerAndFailureShowsWhy(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	release := make(chan struct{})
	f.act = func(ctx context.Context, _, _ string) (hitchpost.StartResult, error) {
		select {
		case <-release:
		case <-ctx.Done():
		}
		return hitchpost.StartResult{}, hitchpost.Errorf(hitchpost.UnavailableError, "tmux did not answer in 5s").
			Hinted("try again, or look at status")
	}
	s := sit(t, f, func(c *Config) { c.Now, c.Background = time.Now, func(work func()) { go work() } })
	s.hand.press("/train<enter>r")
	s.see("restarting train…")
	s.hand.press("r")
	s.see("is being worked on")
	close(release)
	s.see("tmux did not answer in 5s: try again, or look at status")
	if got := f.called(); got != "restart 0190a1b2-0005" {
		t.Errorf("asked %q", got)
	}
}

func TestPanicInAnActIsTold(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	f.act = func(context.Context, string, string) (hitchpost.StartResult, error) { panic("boom") }
	s := sit(t, f, nil)
	s.hand.press("/train<enter>r")
	s.see("something went wrong in the picker")
	f.set(func(f *fake) { f.act = nil })
	s.hand.press("q")
	if _, err := s.left(); err != nil {
		t.Error(err)
	}
}

func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	s := sit(t, f, nil)
	s.see("n new")
	f.set(func(f *fake) {
		f.status.Database = hitchpost.Part{Reason: "connection refused", Since: ago(time.Minute)}
	})
	s.see("database away for 1m")
	s.notSee("n new")
	s.hand.press("x")
	s.see("so nothing can be changed")
	f.set(func(f *fake) { f.status.Database = hitchpost.Part{OK: true} })
	s.see("n new")
	s.hand.press("<enter>")
	if got, err := s.left(); err != nil || got.Attach == "" {
		t.Errorf("choice %+v, %v", got, err)
	}
}

// TestRestartBesideWhatIsLeft refuses a restart for what is left of the last process, shows what that is, and forces
// only where the person says so.
func TestRestartBesideWhatIsLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keys, see string
		asked     []string
	}{
		{"y", "train runs again", []string{"restart 0190a1b2-0005", "force 0190a1b2-0005"}},
		{"n", "esc clear", []string{"restart 0190a1b2-0005"}},
		{"<enter>r", "y restart anyway", []string{"restart 0190a1b2-0005"}},
	} {
		t.Run(c.keys, func(t *testing.T) {
			t.Parallel()
			f := newFake(team()...)
			f.act = func(_ context.Context, verb, _ string) (hitchpost.StartResult, error) {
				if verb == "force" {
					return hitchpost.StartResult{Session: team()[4]}, nil
				}
				return hitchpost.StartResult{}, hitchpost.Errorf(hitchpost.ConflictError,
					"train left a process behind: py\x1b[2Jthon (process 4711)").For("force").Hinted("end it, or start beside it")
			}
			s := sit(t, f, func(c *Config) { c.Terminal.Size = hitchpost.Size{Cols: 40, Rows: 20} })
			s.hand.press("/train<enter>r")
			s.see("train left a process behind: py")
			s.see("y restart anyway")
			s.hand.press(c.keys)
			s.see(c.see)
			if got, want := f.called(), strings.Join(c.asked, "\n"); got != want {
				t.Errorf("the service was asked %q, want %q", got, want)
			}
		})
	}
}

// TestPreview follows the selection and the screen of the selected session.
func TestPreview(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	n := 0
	f.screen = func(ctx context.Context, ref string) ([]byte, error) {
		if ref == "0190a1b2-0003" {
			<-ctx.Done() // a capture that hangs holds up nothing
			return nil, hitchpost.Errorf(hitchpost.UnavailableError, "tmux did not answer").Hinted("try again")
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		n++
		return []byte("screen of " + ref + strings.Repeat("!", min(n, 9)) + "\x1b]52;c;aGk=\x07\x1bP+q544e\x1b\\\x1b[5n\n"), nil
	}
	s := sit(t, f, func(c *Config) { c.Terminal.Size = hitchpost.Size{Cols: 160, Rows: 45} })
	s.see("screen of 0190a1b2-0002!")
	s.see("screen of 0190a1b2-0002!!") // once a second anew
	s.hand.press("j")
	s.see("> docs")
	s.hand.press("jj")
	s.see("> migrate-db")
	s.see("screen of 0190a1b2-0006")
	if sent := s.glass.sent(); strings.Contains(sent, "\x1b]52") || strings.Contains(sent, "\x1bP") || strings.Contains(sent, "\x1b[5n") {
		t.Error("a sequence from the session's screen reached the terminal")
	}
	if rest := s.hand.next(); rest != "" {
		t.Errorf("the terminal answered %q", rest)
	}
}

// TestNewSessionThatFails keeps the form, with what was typed, and shows why.
func TestNewSessionThatFails(t *testing.T) {
	t.Parallel()
	f := newFake(team()...)
	f.act = func(context.Context, string, string) (hitchpost.StartResult, error) {
		return hitchpost.StartResult{}, hitchpost.Errorf(hitchpost.UsageError, "no directory %q", "/nowhere").Hinted("make it first")
	}
	s := sit(t, f, nil)
	s.hand.press("n<up><ctrl-u>/nowhere<enter>")
	s.see(`no directory "/nowhere": make it first`)
	s.see("> directory  /nowhere")
	for field, focus := range map[string]string{"title": "> title", "kind": "> kind", "cwd": "> directory"} {
		f.set(func(f *fake) {
			f.act = func(context.Context, string, string) (hitchpost.StartResult, error) {
				return hitchpost.StartResult{}, hitchpost.Errorf(hitchpost.UsageError, "the %s is wrong", field).For(field)
			}
		})
		s.hand.press("<enter>")
		s.see("the " + field + " is wrong")
		s.see(focus)
	}
	f.set(func(f *fake) {
		f.act = func(context.Context, string, string) (hitchpost.StartResult, error) {
			return hitchpost.StartResult{
				Session: hitchpost.Session{ID: "id-early", Handle: "short"}, Early: &hitchpost.Exit{Code: ptr(127)}, FirstLines: []string{"sh: not found"},
			}, nil
		}
	})
	s.hand.press("<enter>")
	s.see("short ended at once: exit 127: sh: not found")
	s.see("checkout-flow")
}

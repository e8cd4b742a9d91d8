package claude

import (
	"fmt"
	"time"

	"github.com/hitchpost/hitchpost"
)

const (
	// disputeTime is how long hook and register may tell different things. The register follows within a tenth of a second.
	disputeTime = 3 * time.Second
	// startTime is how long Claude Code takes at most until it tells of itself; one that does not has a dialog up.
	startTime = 5 * time.Second
)

// Why a session waits, or what it does instead, in words of this package. Others begin with a word of these and a colon:
// "permission: Bash", "question: which colour?", "error: …".
const (
	ReasonFirstPrompt = "ready for the first prompt"
	ReasonNextPrompt  = "ready for the next prompt" // after a Restart
	ReasonFinished    = "turn finished"
	ReasonInterrupted = "turn interrupted"
	ReasonPrompt      = "waits for a prompt" // hooks do not tell more
	ReasonStartUp     = "start-up dialog"
	ReasonDialog      = "dialog open"
	ReasonPlan        = "plan to approve"
	ReasonPermission  = "permission"
	ReasonQuestion    = "question"
	ReasonError       = "error"
	ReasonWorks       = "works"
	ReasonBackground  = "works in the background"
)

// Sight is what is known of the Claude Code that a session runs.
type Sight struct {
	Now     time.Time
	Started time.Time // when this run was
	Entry   *Entry    // of the register, as it is now; nil: there is none
	Blind   bool      // the register cannot be read, and so Entry is nil
	Noted   time.Time // when the register had an entry of it last; zero: never
	Hooks   Hooks     // of this run
}

// Verdict is what follows from a Sight.
type Verdict struct {
	Known  bool   // false: nothing new is known of it, and the session's state stays as it is
	Waits  bool   // for a person
	Status string // a Status…, or empty
	Reason string // why it waits, or what it does
	Source hitchpost.Source
	Since  time.Time // since when, by that source
	// Uncertain tells that the sources do not agree, or that the one which is left may be wrong: both, and when each was
	// heard, by the clock and not as an age, so that it stays the same while nothing changes. Empty: it is certain.
	Uncertain string
}

// claim is what one source says.
type claim struct {
	waits  bool
	status string
	reason string
	at     time.Time
}

// Judge tells from what is known whether a session waits for a person. It is pure.
//
// The register is right in all cases that were seen; hooks are sooner and tell more, but none is called when a person
// interrupts a turn, says no in a dialog, or says yes before the tool has run to its end. So the newer of the two counts,
// a hook that the register does not bear out within three seconds makes the state uncertain, and details of hooks are
// used where they fit what the register says. Where the register has no entry, hooks alone are uncertain unless they
// tell of an end; one that went a moment ago may be about to be written anew. Give it the hooks that are in the spool
// after the register was read: one that came before what the register tells is then among them.
func Judge(s Sight) Verdict {
	if s.Hooks.At.After(s.Now.Add(clockSlack)) {
		s.Hooks.At = time.Time{} // the clock was set back since: it is older than all that is heard now
	}
	hook, hooked := s.hook()
	entry, known := s.entry()
	switch {
	case !known:
		return s.withoutRegister(hook, hooked)
	case !hooked || !hook.at.After(entry.at) || s.agree(hook.status, entry):
		return s.verdict(entry, hitchpost.FromRegistry)
	case s.Now.Sub(hook.at) <= disputeTime:
		return s.verdict(hook, hitchpost.FromHook)
	}
	v := s.verdict(entry, hitchpost.FromRegistry)
	v.Uncertain = fmt.Sprintf("the register tells %s since %s, the hook %s told %s at %s",
		entry.status, clock(entry.at), s.Hooks.Event, hook.status, clock(hook.at))
	return v
}

// agree reports whether a hook bears out the entry although it came later.
func (s Sight) agree(hook string, entry claim) bool {
	switch {
	case hook == entry.status:
		return true
	case hook == StatusBusy && entry.status == StatusWaiting:
		// A tool that runs beside the one that is asked about. With a prompt given since, the question is over.
		return !s.Hooks.Prompted.After(entry.at)
	case hook == StatusShell:
		// Claude Code may count its subagents as work or not.
		return entry.status == StatusBusy || !entry.waits
	}
	return false
}

// entry is what the register says; false where it says nothing of a status that is known here.
func (s Sight) entry() (claim, bool) {
	if s.Entry == nil {
		return claim{}, false
	}
	c := claim{status: s.Entry.Status, at: s.Entry.StatusAt}
	switch c.status {
	case StatusIdle:
		c.waits, c.reason = s.idle()
	case StatusBusy:
		c.reason = ReasonWorks
		if s.Hooks.Phase == PhaseWorking {
			c.reason = with(ReasonWorks, s.Hooks.Tool)
		}
	case StatusShell:
		c.reason = ReasonBackground
	case StatusWaiting:
		c.waits, c.reason = true, s.asked()
	default:
		return claim{}, false
	}
	return c, true
}

// idle is what an idle conversation waits for.
func (s Sight) idle() (waits bool, reason string) {
	switch s.Hooks.Phase {
	case PhaseReady, PhaseFailed:
		c, _ := s.hook()
		return true, c.reason
	case PhaseFinished:
		// The register has a status of its own for commands in the background, but not for the rest.
		if s.Hooks.Others > 0 {
			return false, ReasonBackground
		}
		return true, ReasonFinished
	case PhaseWorking, PhasePermission:
		if !s.Hooks.At.After(s.Entry.StatusAt) {
			return true, ReasonInterrupted
		}
	}
	return true, ReasonPrompt
}

// asked is what a person is asked by a dialog that the register tells of.
func (s Sight) asked() string {
	// The hook of a dialog comes with it; those of the dialogs behind it come while the register stays as it is.
	fits := !s.Hooks.Asked.Before(s.Entry.StatusAt.Add(-disputeTime))
	switch s.Entry.WaitingFor {
	case "permission prompt", "input needed":
		if fits {
			return s.Hooks.asks()
		}
		if s.Entry.WaitingFor == "input needed" {
			return ReasonQuestion
		}
		return ReasonPermission
	case "", "dialog open":
		return ReasonDialog
	}
	return s.Entry.WaitingFor
}

// asks is what the dialog asks that a hook told of.
func (h Hooks) asks() string {
	switch h.AskedTool {
	case questionTool:
		return with(ReasonQuestion, h.Question)
	case planTool:
		return ReasonPlan
	}
	return with(ReasonPermission, h.AskedTool)
}

// hook is what the hooks say; false where they say nothing of a state.
func (s Sight) hook() (claim, bool) {
	h := s.Hooks
	c := claim{at: h.At}
	switch h.Phase {
	case PhaseReady:
		c.waits, c.status, c.reason = true, StatusIdle, ReasonFirstPrompt
		if h.Resumed {
			c.reason = ReasonNextPrompt
		}
	case PhaseWorking:
		c.status, c.reason = StatusBusy, with(ReasonWorks, h.Tool)
	case PhasePermission:
		c.waits, c.status, c.reason = true, StatusWaiting, h.asks()
	case PhaseFinished:
		c.waits, c.status, c.reason = true, StatusIdle, ReasonFinished
		if h.Shells+h.Others > 0 {
			c.waits, c.status, c.reason = false, StatusShell, ReasonBackground
		}
	case PhaseFailed:
		c.waits, c.status, c.reason = true, StatusIdle, with(ReasonError, h.Error)
	default:
		return claim{}, false
	}
	return c, true
}

// withoutRegister judges where the register does not tell a status.
func (s Sight) withoutRegister(hook claim, hooked bool) Verdict {
	if s.Entry == nil && !s.Noted.IsZero() && s.Now.Sub(s.Noted) <= disputeTime && !(hooked && hook.at.After(s.Noted)) {
		return Verdict{}
	}
	if hooked {
		v := s.verdict(hook, hitchpost.FromHook)
		ended := hook.waits && hook.status == StatusIdle
		if !ended && s.Now.Sub(hook.at) > disputeTime {
			v.Uncertain = fmt.Sprintf("the hook %s told %s at %s, and %s",
				s.Hooks.Event, hook.status, clock(hook.at), s.silence())
		}
		return v
	}
	if s.Hooks.Phase == PhaseOver {
		return Verdict{}
	}
	up := s.Started
	if s.Entry != nil {
		up = s.Entry.StatusAt // a script may have started it much later
	}
	switch {
	case s.Entry != nil && s.Entry.Status != "", s.Entry == nil && !s.heard().IsZero():
		return Verdict{Uncertain: "no hook tells a state, and " + s.silence()}
	case s.Now.Sub(up) < startTime:
		return Verdict{}
	case s.Blind:
		return Verdict{Uncertain: "no hook tells a state, and " + s.silence()}
	}
	return s.verdict(claim{waits: true, reason: ReasonStartUp, at: up}, hitchpost.FromRegistry)
}

// heard is when either source told something last; zero: never.
func (s Sight) heard() time.Time {
	if s.Hooks.Heard.After(s.Noted) {
		return s.Hooks.Heard
	}
	return s.Noted
}

// silence is what the register has instead of a status that is known here.
func (s Sight) silence() string {
	what := "the register has no entry of it"
	if s.Blind {
		what = "the register cannot be read"
	}
	switch {
	case s.Entry == nil && s.heard().IsZero():
		return what
	case s.Entry == nil:
		return what + "; last heard at " + clock(s.heard())
	case s.Entry.Status == "":
		return "the register has no status of it since " + clock(s.Entry.StatusAt)
	}
	return fmt.Sprintf("the register tells %q since %s, which is not known here", s.Entry.Status, clock(s.Entry.StatusAt))
}

func (s Sight) verdict(c claim, source hitchpost.Source) Verdict {
	since := c.at
	if since.After(s.Now) {
		since = s.Now
	}
	return Verdict{Known: true, Waits: c.waits, Status: c.status, Reason: c.reason, Source: source, Since: since}
}

// with is a reason and what it is about.
func with(reason, about string) string {
	if about == "" {
		return reason
	}
	return reason + ": " + about
}

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

package claude

import "github.com/hitchpost/hitchpost"

// RestartFacts is what a Restart is planned from.
type RestartFacts struct {
	Words        Words  // of the session
	Conversation string // the one that the session was in last; empty: nobody knows
	Transcript   TranscriptState
	// Talked tells that a transcript of it with messages was seen. With none now, Claude Code or somebody else has removed
	// it. That a prompt was heard of is not enough: Claude Code writes a moment later, which a kill may forestall.
	Talked bool
	// Moved tells that the conversation is not the one that the session was first started with.
	Moved bool
	// CleanupDays is for how many days transcripts are kept; for the message.
	CleanupDays int

	Dir     string // of the session
	DirGone bool   // it is not there any more

	Fresh bool // the person wants a new conversation
	// Chosen is the conversation that the person wants, as they gave it, and ChosenTranscript what there is of it. Empty:
	// the session's own.
	Chosen           string
	ChosenTranscript TranscriptState

	NewID string // a fresh UUID, for where a new conversation is needed
}

// PlanRestart decides which conversation a fresh process of a session opens. One that has messages is resumed. One that
// has none yet, and left no file, begins again under its id; one whose file holds none can be neither resumed nor begun
// again, and gives way to a new one. Never is a conversation replaced by another without being asked for: where the
// transcript is gone, the person chooses.
//
// Errors: ConflictError where the session's conversation cannot be had, NotFoundError where a chosen one is not there,
// UsageError for a choice that is none. Their hints tell the choices.
func PlanRestart(f RestartFacts) (Plan, error) {
	p := Plan{Words: f.Words, Restart: true}
	switch {
	case f.Fresh && f.Chosen != "":
		return Plan{}, refused("a fresh conversation and a chosen one exclude each other").Hinted("give one of the two")
	case f.DirGone:
		return Plan{}, conflict("the directory %q is gone, in which claude would look for the conversation", f.Dir).For("cwd").
			Hinted("make it again, then restart")
	case f.Chosen != "":
		return f.chosen(p)
	case f.Fresh:
		p.Way, p.Conversation = WayNew, f.NewID
		return p, nil
	case f.Conversation == "":
		return Plan{}, conflict("nobody knows which conversation the session was in").Hinted(choices)
	}
	p.Conversation = f.Conversation
	forked := f.Words.Fork && !f.Moved
	resumed := f.Words.Resume == f.Conversation && !f.Words.Fork
	switch {
	case f.Transcript == TranscriptMessages:
		p.Way = WayResume
	case f.Talked || resumed:
		return Plan{}, f.gone()
	case f.Transcript == TranscriptNone && forked:
		p.Way, p.Source = WayFork, f.Words.Resume // it ended before the copy was made
	case f.Transcript == TranscriptNone:
		p.Way = WayNew
	default:
		p.Way, p.Conversation = WayNew, f.NewID
	}
	return p, nil
}

// choices is what a person can do about a conversation that cannot be had.
const choices = "restart with --fresh for a new conversation, or with --conversation ID for another one"

// chosen plans the Restart into a conversation that the person named.
func (f RestartFacts) chosen(p Plan) (Plan, error) {
	p.Way, p.Conversation = WayResume, conversationID(f.Chosen)
	if p.Conversation == "" {
		return Plan{}, refused("%s is not the id of a conversation", quoted(f.Chosen)).
			Hinted("give the whole id, a UUID such as 0198c5b0-7c7e-7d1e-9f7a-3b0c5d1e2f30")
	}
	if f.ChosenTranscript != TranscriptMessages {
		return Plan{}, hitchpost.Errorf(hitchpost.NotFoundError, "there is no conversation %s to resume", p.Conversation).
			Hinted("check the id, or restart with --fresh for a new conversation")
	}
	return p, nil
}

// gone tells of a conversation whose transcript is not there any more.
func (f RestartFacts) gone() error {
	err := conflict("the transcript of the conversation %s is gone", f.Conversation)
	if f.CleanupDays > 0 {
		err = conflict("%s (Claude Code removes those that nobody used for %d days)", err.Message, f.CleanupDays)
	}
	return err.Hinted(choices)
}

func conflict(format string, args ...any) *hitchpost.Error {
	return hitchpost.Errorf(hitchpost.ConflictError, format, args...)
}

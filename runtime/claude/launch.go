package claude

import "strconv"

// Way is how a run comes to its conversation.
type Way string

// The ways to a conversation.
const (
	WayNew    Way = "new"    // an empty one, with an id that it is given
	WayResume Way = "resume" // one that has a transcript
	WayFork   Way = "fork"   // a copy of one that has a transcript, with an id that it is given
)

// Plan is what a run of Claude Code is to do.
type Plan struct {
	Way          Way
	Conversation string // the id of the run's conversation
	Source       string // of WayFork: the id of the conversation that is copied
	Words        Words
	Restart      bool // no prompt of Words, nothing else that was for the beginning, and nothing that comes back by itself
	// Prompt is what a Restart tells first, where somebody asked for that.
	Prompt string
}

// PlanStart is the plan of a first start. id is a fresh UUID, which the conversation gets unless the person names one.
//
// Where they name one to resume, whether it has a transcript is the caller's to check: claude then ends at once.
func PlanStart(w Words, id string) Plan {
	p := Plan{Way: WayNew, Conversation: id, Words: w}
	if w.SessionID != "" {
		p.Conversation = w.SessionID
	}
	switch {
	case w.Fork:
		p.Way, p.Source = WayFork, w.Resume
	case w.Resume != "":
		p.Way, p.Conversation = WayResume, w.Resume
	}
	return p
}

// Argv is the words of the run: the program, what chooses the conversation, the settings in the file at settings, and the
// person's words. The prompt stands behind --, where it cannot be taken for a flag or a flag's value.
func (p Plan) Argv(program, settings string) []string {
	argv := []string{program}
	switch p.Way {
	case WayResume:
		argv = append(argv, "--resume", p.Conversation)
	case WayFork:
		argv = append(argv, "--resume", p.Source, "--fork-session", "--session-id", p.Conversation)
	default:
		argv = append(argv, "--session-id", p.Conversation)
	}
	argv = append(append(argv, "--settings", settings), p.flags()...)
	prompt := p.Words.Prompt
	if p.Restart {
		prompt = p.Prompt
	}
	if prompt != "" {
		argv = append(argv, "--", prompt)
	}
	return argv
}

// flags is the person's flags that the run is given: at a Restart without those that are for the beginning, and where that
// resumes a conversation without those that come back with it.
func (p Plan) flags() []string {
	var out []string
	for _, k := range p.Words.kept {
		if f := flags[k.name]; p.Restart && (f.once || f.restored && p.Way == WayResume) {
			continue
		}
		out = append(out, k.text...)
	}
	return out
}

// Environment is what a run's environment has beside that of every session: the way back for hooks (HookEnvironment), no
// key that takes the conversation out of the session, and all the colours that tmux has.
func Environment(run int, token, spool string) []string {
	return append(HookEnvironment(run, token, spool), "CLAUDE_CODE_DISABLE_AGENT_VIEW=1", "CLAUDE_CODE_TMUX_TRUECOLOR=1")
}

// HookEnvironment is the way back for the hooks of any agent: spool is the directory, token what proves that an event is
// of this session.
func HookEnvironment(run int, token, spool string) []string {
	return []string{RunVariable + "=" + strconv.Itoa(run), TokenVariable + "=" + token, SpoolVariable + "=" + spool}
}

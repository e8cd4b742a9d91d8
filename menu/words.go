package menu

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitchpost/hitchpost"
)

// Every word that people read in the picker stands here, and those of agents in agentwords.go. Messages say what
// happened, then what to do next, in lower case and without a final stop. Text from outside is cleaned where it is put in.

const (
	wordProduct = "hitchpost"
	wordNone    = "-"
	wordNow     = "<1m"
	wordClash   = "CLASH"   // before where it works
	wordWaiting = "WAITING" // where WAITING_FOR_INPUT has no room

	wordCrash     = "something went wrong in the picker"
	wordCrashHint = "try again: sessions are not touched by it"

	wordEmpty       = "no sessions yet"
	wordEmptyNext   = "press n to start the first one"
	wordEmptyViewer = "an operator has to start one"
	wordNotFound    = "no session matches"
	wordNotFoundEnd = "esc clears the filter"
	wordNotKnown    = "no sessions known while the database is away"

	wordNoScreen = "no screen"
	wordScreen   = "SCREEN"

	wordLastScreen = "LAST SCREEN"
	wordLoading    = "looking"
	wordNewTitle   = "new session"
	wordFilter     = "/ "
	wordRename     = "new title "
	wordFormTitle  = "title"
	wordFormKind   = "kind"
	wordFormWords  = "command"
	wordFormDir    = "directory"
	wordTitleHint  = "made from the directory when empty"
	wordWordsHint  = "such as: make watch"
)

// What each key does, as help and footer say it.
const (
	doesUp        = "up"
	doesDown      = "down"
	doesAPageUp   = "a page up"
	doesAPageDown = "a page down"
	doesFirst     = "first"
	doesLast      = "last"
	doesAttach    = "attach"
	doesNew       = "new"
	doesRestart   = "restart"
	doesStop      = "stop"
	doesClose     = "close"
	doesRename    = "rename"
	doesFilter    = "filter"
	doesHelp      = "help"
	doesBack      = "back"
	doesLeave     = "leave"
	doesYes       = "yes"
	doesNo        = "no"
	doesStart     = "start"
	doesNext      = "next"
	doesComplete  = "complete"
	doesChange    = "change"
	doesKeep      = "keep"
	doesClear     = "clear"
	doesScroll    = "scroll"
	doesMove      = "move"
	doesCard      = "card"
	doesAgain     = "look again"
	doesNote      = "note"
	doesBrief     = "restart with note"
	doesSave      = "save"
	doesDrop      = "drop"
	doesTemplate  = "template"
	doesDraft     = "draft from facts"
	doesTheirs    = "take theirs"
	doesMine      = "keep mine"
	doesBoth      = "edit both"
)

// heading is the title of each column.
func heading(c column) string {
	return [columnCount]string{"HANDLE", "STATE", "WAITS FOR", "KIND", "NODE", "PROJECT", "WHERE", "OUTPUT", "ATT", "TITLE"}[c]
}

func stateWord(s hitchpost.State, short bool) string {
	if short && s == hitchpost.WaitingForInput {
		return wordWaiting
	}
	return clean(string(s))
}

// tally is the line at the top: how many there are, and how many need a person.
func tally(all, shown, needed int, query string) string {
	words := plural(all, "session")
	if query != "" {
		words = fmt.Sprintf("%d of %s with %q", shown, words, query)
	}
	switch needed {
	case 0:
		return words
	case 1:
		return words + ", 1 needs you"
	default:
		return words + fmt.Sprintf(", %d need you", needed)
	}
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

// ended is how the last process of a session came to its end.
func ended(s hitchpost.Session) string {
	if e := s.Exit(); e != nil {
		return clean(e.String())
	}
	return ""
}

// story is the state of a session in a line: state, age, how it ended, why, and how that is known.
func story(s hitchpost.Session, now time.Time) string {
	words := stateWord(s.State, false) + " for " + age(s.StateSince, now)
	how, why := ended(s), clean(s.StateReason)
	if how != "" && s.State.Ended() && !strings.HasPrefix(why, how) {
		words += ", " + how
	}
	if why != "" {
		words += ": " + why
	}
	if s.StateSource != "" && (s.StateSource != hitchpost.FromExit || how == "") { // an exit is known from nothing else
		words += " (" + clean(string(s.StateSource)) + doubt(s) + ")"
	}
	return words
}

// what is the thing that a session runs.
func what(s hitchpost.Session) string {
	switch {
	case s.Kind == hitchpost.Shell:
		return "its shell"
	case s.Kind == hitchpost.Claude:
		return "claude"
	case len(s.Args) > 0:
		return clean(strings.Join(s.Args, " "))
	default:
		return "its program"
	}
}

func askStop(s hitchpost.Session) string {
	words := fmt.Sprintf("stop %s? %s and all that runs in it will end", clean(s.Handle), what(s))
	if s.Attached > 0 {
		words += fmt.Sprintf("; %s attached", plural(s.Attached, "client"))
	}
	return words
}

func askClose(s hitchpost.Session) string {
	return fmt.Sprintf("close %s? it leaves the list and cannot be restarted; no file is touched", clean(s.Handle))
}

// askForce asks about a restart that was refused for what is left of the last process.
func askForce(err error) string {
	words := failure(err)
	var e *hitchpost.Error
	if errors.As(err, &e) {
		words = clean(e.Message)
	}
	return words + "; start a new one beside it?"
}

// offer says why an ended session cannot be attached to, and what a restart would give.
func offer(s hitchpost.Session, mayDrive bool) string {
	words := clean(s.Handle)
	how, why := ended(s), clean(s.StateReason)
	switch {
	case s.State == hitchpost.Recoverable:
		words += " has no process: it was lost"
	case how != "" && !strings.HasPrefix(why, how):
		words += " has ended: " + how
	default:
		words += " has ended"
	}
	if why != "" {
		words += " (" + why + ")"
	}
	if !mayDrive {
		return words + "; an operator can restart it"
	}
	return words + "; r starts " + fresh(s) + "; what ran before does not come back"
}

func fresh(s hitchpost.Session) string {
	if s.Kind == hitchpost.Shell {
		return "a new login shell in " + clean(s.Cwd)
	}
	if s.RestartCommand != "" {
		return clean(s.RestartCommand) + " in " + clean(s.Cwd)
	}
	if s.ConversationID != "" {
		return what(s) + " with its conversation in " + clean(s.Cwd)
	}
	return what(s) + " again in " + clean(s.Cwd)
}

// trouble is the line for parts that are away, empty when all is well.
func trouble(st hitchpost.Status, now time.Time) string {
	var parts []string
	if away(st) {
		words := "database away for " + age(st.Database.Since, now)
		if st.Database.Since.IsZero() {
			words = "database away"
		}
		parts = append(parts, words+": nothing can be changed; live sessions can be attached")
	}
	for _, n := range st.Nodes {
		if n.State != hitchpost.Offline {
			continue
		}
		words := "node " + clean(n.Name) + " OFFLINE for " + age(n.Since, now)
		if n.Reason != "" {
			words += ": " + clean(n.Reason)
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, "; ")
}

// away reports whether the database is known not to answer. A status that nobody filled in yet says nothing.
func away(st hitchpost.Status) bool { return !st.Database.OK && st.Database.Reason != "" }

const (
	verbStart   = "start"
	verbRestart = "restart"
	verbStop    = "stop"
	verbClose   = "close"
	verbRename  = "rename"
	verbForce   = "restart anyway"
	verbNote    = "note"
)

// underWay is an act that takes its time.
func underWay(verb, handle string) string {
	doing := map[string]string{
		verbStart: "starting", verbRestart: "restarting", verbForce: "restarting", verbStop: "stopping", verbClose: "closing",
		verbRename: "renaming", verbNote: "saving the note of",
	}[verb]
	return doing + " " + clean(handle)
}

// done is an act that went well.
func done(verb string, s hitchpost.Session) string {
	h := clean(s.Handle)
	switch verb {
	case verbRestart, verbForce:
		return h + " runs again: enter attaches"
	case verbStop:
		return h + " is " + stateWord(s.State, false) + ": r restarts it, c takes it off the list"
	case verbClose:
		return h + " is off the list"
	case verbRename:
		return "the handle is now " + h
	case verbNote:
		return "the note of " + h + " is saved"
	}
	return h + " runs"
}

// early is a program that ended as soon as it was started, with the first lines that it printed.
func early(res hitchpost.StartResult) string {
	s := res.Session
	s.ExitCode, s.ExitSignal = res.Early.Code, res.Early.Signal
	words := clean(s.Handle) + " ended at once"
	if e := ended(s); e != "" {
		words += ": " + e
	}
	if first := strings.TrimSpace(ansi.Strip(strings.Join(res.FirstLines, " "))); first != "" {
		words += ": " + clean(first)
	}
	return words
}

// failure is an error in words: what happened, and what to do next.
func failure(err error) string {
	var e *hitchpost.Error
	if errors.As(err, &e) {
		return clean(e.Error())
	}
	return clean(err.Error()) + ": try again"
}

func noAct(verb string, s hitchpost.Session) string {
	switch {
	case verb == verbRestart || verb == verbClose:
		return fmt.Sprintf("%s is %s: stop it first, with x", clean(s.Handle), stateWord(s.State, false))
	case s.State.Ended():
		return fmt.Sprintf("%s has no process to stop: r restarts it, c takes it off the list", clean(s.Handle))
	default:
		return fmt.Sprintf("%s is %s: wait a moment", clean(s.Handle), stateWord(s.State, false))
	}
}

func notYet(s hitchpost.Session) string {
	return fmt.Sprintf("%s is %s: try again in a moment", clean(s.Handle), stateWord(s.State, false))
}

const (
	wordDenied     = "your key may only look: ask an admin for another role"
	wordAway       = "the database is away, so nothing can be changed: live sessions can be attached"
	wordBusy       = "that session is being worked on: wait a moment"
	wordOpenQuote  = "the command has an open quote: close it"
	wordNoCommand  = "a command session needs a command: type one, or change the kind to shell"
	wordNoTitle    = "a session needs a title: type one"
	wordNoneSuch   = "no directory starts like that: change it, or press enter to try it"
	wordReadOnly   = "read-only"
	wordMore       = " more"
	wordAttachRead = "attach, read-only"
)

// What the picker without drawing says.
const (
	plainHelp   = "a number or a handle attaches, enter shows the list again, q leaves"
	plainPrompt = "session: "
)

func plainUnknown(typed string) string {
	return "no session " + strconv.Quote(typed) + ": press enter for the list"
}

func plainEnded(s hitchpost.Session) string {
	return fmt.Sprintf("%[1]s has no process, it is %[2]s: start one with `restart %[1]s`", clean(s.Handle),
		stateWord(s.State, false))
}

// helpLines is the help page: keys, then what the states mean.
func helpLines(mayDrive bool) [][2]string {
	attach := "attach"
	if !mayDrive {
		attach = wordAttachRead
	}
	lines := [][2]string{
		{"enter", attach},
		{"j k ↑ ↓", "move"},
		{"PgUp PgDn", "a page up, down"},
		{"g G", "first, last"},
		{"i", "card: facts, next safe step"},
		{"/", "filter by any word shown"},
		{"esc", "clear the filter, go back"},
	}
	if mayDrive {
		lines = append(lines, [][2]string{
			{"n", "new session"},
			{"r", "restart one that has ended"},
			{"x", "stop the process"},
			{"c R e", "close, rename, write its note"},
		}...)
	}
	return append(lines, [][2]string{
		{"q ctrl-c", "leave; sessions go on"},
		{"", ""},
		{"WAITING", "the agent needs a person"},
		{"RECOVERABLE", "lost; r gives a new process"},
		{"FAILED", "ended badly"},
		{"RUNNING", "live, somebody attached"},
		{"DETACHED", "live, nobody attached"},
		{"STOPPED", "ended well or was stopped"},
		{"OUTPUT", "age of the last output"},
		{"ATT", "clients attached"},
	}...)
}

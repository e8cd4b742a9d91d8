package sshd

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
)

// This file owns the words that people read from this package. A line says what happened and then what to do next, in
// lower case and without a final stop.

const (
	noForwarding    = "hitchpost does not forward: ports, agents and displays stay where they are"
	noSuchChannel   = "hitchpost has sessions only"
	noIdentity      = "nobody is logged in"
	tooManyChannels = "too many sessions on one connection: close one or connect again"
	noPlace         = "hitchpost: too many connections: try again later\r\n"
	internalError   = "hitchpost: an error inside hitchpost ended this session: try again, and tell whoever runs it"
	slowClient      = "this terminal took no output for too long"
	endedLine       = "press r to restart it, enter for the menu, q to leave"
	endedDirectLine = "press r to restart it, any other key to leave"
	viewerDirect    = "press any key to leave"
	viewerLine      = "press enter for the menu, q to leave"
	restarting      = "restarting…"

	noSessionToResume = "connected again, but this client was in no session: choose one"
)

// tooManyKeys is shown to a client that offers key after key, shortly before it is sent away.
func tooManyKeys() string {
	return "hitchpost: many keys were offered and none is known: choose one with -i FILE -o IdentitiesOnly=yes\r\n"
}

func stopped() *hitchpost.Error {
	return hitchpost.Errorf(hitchpost.UnavailableError, "the service is stopping, your sessions go on").
		Hinted("connect again in a moment")
}

func keyGone() *hitchpost.Error {
	return hitchpost.Errorf(hitchpost.RevokedError, "this key is no longer known").Hinted("log in with another key")
}

func needsTerminal(name string) *hitchpost.Error {
	shown := "an unnamed terminal"
	if name != "" {
		shown = "the terminal " + strconv.Quote(name)
	}
	return hitchpost.Errorf(hitchpost.UsageError, "%s cannot show this", shown).
		Hinted("use one that moves its cursor, such as TERM=xterm-256color")
}

// noSubsystem answers sftp and its like.
func noSubsystem(name string) string {
	return "hitchpost: the subsystem " + quoted(name) + " is not offered: use the sshd of this machine for it"
}

// errorLine is an error as one line for people.
func errorLine(err error) string { return "hitchpost: " + clean(err.Error()) }

// noticeLine is an error as the menu shows it.
func noticeLine(err error) string { return clean(err.Error()) }

// leftLine tells a person that they left a session that goes on.
func leftLine(s hitchpost.Session) string {
	return "hitchpost: detached from " + clean(s.Handle) + ", it goes on"
}

// endLine tells how a session, or the view of it, ended.
func endLine(end hitchpost.AttachEnd) string {
	name := clean(end.Session.Handle)
	switch end.Reason {
	case hitchpost.EndDetached:
		return leftLine(end.Session)
	case hitchpost.EndLost:
		return "hitchpost: " + name + " was lost, its process is gone: it can be restarted"
	case hitchpost.EndCut:
		if end.Message == "" {
			return "hitchpost: cut off from " + name + ", it goes on: connect again"
		}
		return "hitchpost: " + clean(end.Message)
	default:
		return "hitchpost: session " + name + " ended" + howEnded(end.Exit)
	}
}

func howEnded(e *hitchpost.Exit) string {
	switch {
	case e == nil:
		return ""
	case e.Signal != "":
		return " (signal " + clean(e.Signal) + ")"
	case e.Code != nil:
		return fmt.Sprintf(" (exit %d)", *e.Code)
	}
	return " (nobody saw how)"
}

// cutLine is what a client is told that took no output.
func cutLine(limit time.Duration) string {
	return fmt.Sprintf("%s (%s): connect again", slowClient, limit)
}

func quoted(s string) string {
	if len(s) > 64 {
		s = s[:64]
	}
	return strconv.Quote(s)
}

// clean is s as one line in which nothing can move a cursor: names and messages may hold what others typed.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < ' ', r >= 0x7f && r < 0xa0:
			return '\uFFFD'
		case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c:
			return -1 // these turn the direction of what follows
		case r == 0x2028, r == 0x2029:
			return ' '
		}
		return r
	}, s)
}

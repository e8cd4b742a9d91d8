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
	slowClient      = "this client took no output for too long"
	endedLine       = "press r to restart it, enter for the menu, q to leave"
	endedDirectLine = "press r to restart it, any other key to leave"
	viewerDirect    = "press any key to leave"
	viewerLine      = "press enter for the menu, q to leave"
	restarting      = "restarting…"

	noSessionToResume   = "connected again, but this client was in no session: choose one"
	sessionToResumeGone = "connected again, but the session that this client was in is gone: choose another"
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

// noSubsystem answers sftp and its like.
func noSubsystem(name string) string {
	return "hitchpost: the subsystem " + quoted(name) + " is not offered: use the sshd of this machine for it"
}

// errorLine is an error as one line for people.
func errorLine(err error) string { return "hitchpost: " + hitchpost.OneLine(err.Error()) }

// noticeLine is an error as the menu shows it.
func noticeLine(err error) string { return hitchpost.OneLine(err.Error()) }

// besideLine asks about a restart that was refused for what is left of the last process.
func besideLine(err error) string {
	return errorLine(err) + ", press f for that, any other key to leave it"
}

func notRestarted() *hitchpost.Error {
	return hitchpost.Errorf(hitchpost.ConflictError, "not restarted").Hinted("end what it has left behind first")
}

// leftLine tells a person that they left a session that goes on.
func leftLine(s hitchpost.Session) string {
	return "hitchpost: detached from " + hitchpost.OneLine(s.Handle) + ", it goes on"
}

// endLine tells how a session, or the view of it, ended.
func endLine(end hitchpost.AttachEnd) string {
	name := hitchpost.OneLine(end.Session.Handle)
	switch end.Reason {
	case hitchpost.EndDetached:
		return leftLine(end.Session)
	case hitchpost.EndLost:
		return "hitchpost: " + name + " was lost, its process is gone: it can be restarted"
	case hitchpost.EndCut:
		if end.Message == "" {
			return "hitchpost: cut off from " + name + ", it goes on: connect again"
		}
		return "hitchpost: " + hitchpost.OneLine(end.Message)
	default:
		return "hitchpost: session " + name + " " + howEnded(end.Exit)
	}
}

// howEnded is the end of a sentence that begins with what ended.
func howEnded(e *hitchpost.Exit) string {
	if e == nil {
		return "ended"
	}
	how := hitchpost.OneLine(e.String())
	if strings.HasPrefix(how, "ended") {
		return how
	}
	return "ended (" + how + ")"
}

// cutLine is what a client is told that took no output.
func cutLine(limit time.Duration) string {
	return fmt.Sprintf("%s (%s): connect again", slowClient, limit)
}

// tookNothing ends a command whose client took no output.
func tookNothing(limit time.Duration) *hitchpost.Error {
	return hitchpost.Errorf(hitchpost.UnavailableError, "%s (%s)", slowClient, limit).Hinted("begin again, and read what comes")
}

func quoted(s string) string {
	if len(s) > 64 {
		s = s[:64]
	}
	return strconv.Quote(s)
}

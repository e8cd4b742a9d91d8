package store

import (
	"time"

	"github.com/hitchpost/hitchpost"
)

// Deadline is how long one call may take, waiting for a connection included. Migrate, Listen and PruneEvents, which do
// many things one after the other, take longer; each of their steps keeps to it. Dump and Restore move as much as there
// is and end when nothing moves any more.
const Deadline = 3 * time.Second

// By is who does something, and why; it goes into the event. The zero value stands for the service itself.
type By struct {
	Actor       string           // name; empty for the service itself
	Fingerprint string           // of the key, empty for the service itself
	Source      hitchpost.Source // empty: FromPerson where there is an Actor, else FromReconciler
	Reason      string           // for people, may be empty
}

// Transition is a change to a session together with what it must find.
type Transition struct {
	Change hitchpost.Change
	// From are the states it may start from; empty: all that hitchpost.Next allows.
	From []hitchpost.State
	// Run, where it is not nil, must equal the session's Restarts, so that news of an older process changes nothing.
	Run *int
	By  By
	// Exit is how the process ended, for exited, exited_badly and lost; nil when nobody saw it. Its At becomes ended_at.
	Exit *hitchpost.Exit
	// SetRun is the number of the run that was found, for found; nil leaves the session's.
	SetRun *int
	// Agent is what is known of the agent whose process is asked for, and Conversation its id of the one
	// that it shall have, for restart_asked; nil and empty leave those of the session. What was known of the process before
	// is forgotten, and the conversation that is left joins the former ones. Where another session runs the conversation,
	// the restart is refused with ConflictError.
	Agent        *hitchpost.Agent
	Conversation string
	// Since is since when the agent waits, for waiting; see AgentNews.
	Since time.Time
	// Lease is how long a start or a stop may be under way; needed for restart_asked and stop_asked. It becomes a time of
	// the database's clock, by which it is judged too: who judges may be another machine, and any clock may be set.
	Lease time.Duration
}

// Attachment is a client attached to a session.
type Attachment struct {
	ID          string // UUID made by the caller, version 7
	Session     string // id
	Fingerprint string // of the key, may be empty
	Actor       string // name
	Node        string // id of the node whose service holds the view
	Client      string // HITCHPOST_CLIENT, may be empty
	ReadOnly    bool
}

// Output tells when a session last printed something.
type Output struct {
	ID string // of the session
	At time.Time
}

// Place is where in which repository a session works.
type Place struct {
	ID           string // of the session
	Repo, Branch string
}

// Topic is what a Notice is about.
type Topic string

// The topics of notices.
const (
	TopicAll     Topic = "all" // anything may have changed unseen: read everything again
	TopicSession Topic = "session"
	TopicKey     Topic = "key"
	TopicNode    Topic = "node"
	TopicTask    Topic = "task"
	TopicEvent   Topic = "event" // events were appended; it wakes those who follow them, once a transaction
)

// Notice says that a row changed. It only wakes: the row is the truth.
type Notice struct {
	Topic Topic  `json:"topic"`
	ID    string `json:"id,omitempty"` // of the session, node or task, fingerprint of the key; empty for TopicAll and TopicEvent
}

package hitchpost

// State is where a session stands. Live states have a process; the others do not.
type State string

// The states of a session, as people and scripts read them.
const (
	Starting        State = "STARTING"
	Running         State = "RUNNING"           // live, at least one client attached
	Detached        State = "DETACHED"          // live, nobody attached
	WaitingForInput State = "WAITING_FOR_INPUT" // live, the agent needs a person
	Stopping        State = "STOPPING"
	Stopped         State = "STOPPED"
	Failed          State = "FAILED"
	Recoverable     State = "RECOVERABLE"
)

// States lists every state, in the order of a session's life.
func States() []State {
	return []State{Starting, Running, Detached, WaitingForInput, Stopping, Stopped, Failed, Recoverable}
}

// Live reports whether a process is known to run: RUNNING, DETACHED or WAITING_FOR_INPUT.
func (s State) Live() bool { return s == Running || s == Detached || s == WaitingForInput }

// Ended reports whether no process is meant to run: STOPPED, FAILED or RECOVERABLE. These can be restarted and closed.
func (s State) Ended() bool { return s == Stopped || s == Failed || s == Recoverable }

// Change is something that happens to a session and may move its state.
type Change string

// The changes. Each is also the kind of the event that records it.
const (
	ChangeCreated      Change = "created"       // a person asked for a new session
	ChangeStarted      Change = "started"       // its process is up
	ChangeStartFailed  Change = "start_failed"  // its process could not be made
	ChangeAttached     Change = "attached"      // the first client attached
	ChangeLeft         Change = "detached"      // the last client left
	ChangeWaits        Change = "waiting"       // the agent needs a person
	ChangeAnswered     Change = "answered"      // it no longer does
	ChangeStopAsked    Change = "stop_asked"    // a person asked to stop it
	ChangeExitedWell   Change = "exited"        // its process ended with code 0
	ChangeExitedBadly  Change = "exited_badly"  // another code, or a signal
	ChangeLost         Change = "lost"          // a healthy tmux does not know it
	ChangeFound        Change = "found"         // tmux runs what the store held as ended, as an older run, or not at all
	ChangeRestartAsked Change = "restart_asked" // a person asked for a fresh process
	ChangeClosed       Change = "closed"        // a person took it off the list
)

// Changes lists every change.
func Changes() []Change {
	return []Change{
		ChangeCreated, ChangeStarted, ChangeStartFailed, ChangeAttached, ChangeLeft, ChangeWaits, ChangeAnswered,
		ChangeStopAsked, ChangeExitedWell, ChangeExitedBadly, ChangeLost, ChangeFound, ChangeRestartAsked, ChangeClosed,
	}
}

// Next is the state that follows from by c; ok is false where c cannot happen in that state. The empty state stands
// for a session that does not exist yet. The result may equal from.
//
// This is the one table of transitions. The database repeats it as a constraint, and a test holds the two together.
func Next(from State, c Change) (to State, ok bool) {
	switch c {
	case ChangeCreated:
		return when(from == "", Starting)
	case ChangeRestartAsked:
		return when(from.Ended(), Starting)
	case ChangeStarted:
		return when(from == Starting, Detached)
	case ChangeStartFailed:
		return when(from == Starting, Failed)
	case ChangeAttached:
		return when(from == Detached, Running)
	case ChangeLeft:
		return when(from == Running, Detached)
	case ChangeWaits:
		return when(from.Live(), WaitingForInput) // one that waits may come to wait for something else
	case ChangeAnswered:
		return when(from == WaitingForInput, Detached)
	case ChangeStopAsked:
		return when(from.Live(), Stopping)
	case ChangeExitedWell:
		return when(from.Live() || from == Starting || from == Stopping, Stopped)
	case ChangeExitedBadly:
		if from == Stopping {
			return Stopped, true
		}
		return when(from.Live() || from == Starting, Failed)
	case ChangeLost:
		return lost(from)
	case ChangeFound:
		// From any state: a store restored from an older backup may be a run behind tmux.
		return Detached, true
	case ChangeClosed:
		if from == Recoverable {
			return Stopped, true
		}
		return when(from.Ended(), from)
	}
	return "", false
}

// lost is what becomes of a session whose process a healthy tmux does not know.
func lost(from State) (State, bool) {
	switch from {
	case Running, Detached, WaitingForInput:
		return Recoverable, true
	case Starting:
		return Failed, true
	case Stopping:
		return Stopped, true
	}
	return "", false
}

func when(ok bool, to State) (State, bool) {
	if !ok {
		return "", false
	}
	return to, true
}

// Source is who or what a state is known from.
type Source string

// The sources of a state.
const (
	FromPerson     Source = "person"
	FromTmux       Source = "tmux"
	FromExit       Source = "exit"
	FromHook       Source = "hook"
	FromRegistry   Source = "registry" // where an agent notes what each of its processes does
	FromReconciler Source = "reconciler"
)

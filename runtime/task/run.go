package task

import "time"

// How long the processes of a task are given between TERM and KILL; see the rules in the package's documentation.
const (
	CancelGrace = 10 * time.Second // after Cancel and at the time limit
	RestGrace   = 2 * time.Second  // for what the first process left behind, and when the machine or tmux goes down
)

// statusRunner is the exit status of a runner that ran nothing: no usable Spec, or started before.
const statusRunner = 125

// Run is the body of `hitchpost run-task`: it runs the command of the task in folder to its end, keeps its output and
// its Record, and returns the exit status that a shell would give (128+N for signal N), or 125 where it ran nothing.
//
// Run belongs to a process of its own, which it leaves with its thread, signals and collector settings changed.
func Run(folder string) (exitStatus int) { return statusRunner }

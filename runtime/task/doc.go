// Package task runs background commands, each with a durable log and exit record in a folder of its own.
//
// tmux starts `hitchpost run-task FOLDER`, whose body is Run: the runner. It reads the Spec in the folder, starts the
// command in a session of its own without a terminal, is the sink of its output, and leaves a Record. It needs no
// service: `hitchpost serve` may come and go. The other half is for the service: Create, Look, Cancel, Feed and OpenLog
// work on a folder from outside, in any process and at any time.
//
// It promises:
//   - one start for one folder: a runner that is run a second time refuses, also after a kill or a power loss;
//   - every byte that the command wrote before it ended is in the log, up to the log's limit, and counted above it;
//   - one Record, whole or absent, also when the disk filled up after Create; a disk that is full costs bytes of the
//     log and never holds up or ends the command.
//
// The rules of its end: the command has ended when its first process has. What that process left behind in its session
// (setsid(2): its children, unless one made itself a session of its own, as a daemon does) gets TERM, and KILL after
// RestGrace; then the Record is written, and nobody waits for a daemon that keeps the output open. Cancel and the time
// limit send TERM to the whole session, and KILL after CancelGrace. The time limit counts on a clock that nobody sets
// and that stands still while the machine sleeps. Where whoever fed its input went away before the end of that, the
// Record says so (InputCut). A runner whose terminal goes away, or that gets TERM, INT or QUIT,
// ends its command in the same way with RestGrace and marks the Record with Hangup: that is a machine or a tmux going
// down, not the command's own end. Where the runner is killed the kernel kills the command's first process with it
// (on Linux), and no Record is left.
//
// A folder holds spec.json, lock (held by the runner for as long as it lives), place (until the start), started (from
// the start to the end), exit.json (the Record; its arrival is the end), log and log.N (the output; see Log), stdin (a
// FIFO, until the end), and the marks cancel, fed and given. Names in the parent that begin with a dot are folders that Create
// did not finish.
//
// It imports the root package, runtime/launch and runtime/durable and does nothing at init; package runtime and
// cmd/hitchpost import it.
package task

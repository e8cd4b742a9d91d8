// Package launch runs the program of a session and keeps what became of it.
//
// tmux starts `hitchpost run-session SPEC`, whose body is Run: a light wrapper that reads a Spec, starts the program
// with exactly the environment of the Spec, waits for it and leaves a Record on disk. tmux never sees the program, its
// words, its directory or its environment, and the exit code does not depend on tmux, which loses it at times.
//
// It promises:
//   - job control, Ctrl-C, Ctrl-\ and Ctrl-Z as if tmux had started the program itself;
//   - one Record for one Spec, whole or absent, whatever happens to `hitchpost serve` meanwhile, and also when the disk
//     filled up after the start;
//   - one start for one Spec: a wrapper that is run a second time refuses;
//   - where memory runs out, Linux takes the program and what it started before the wrapper, tmux and the service.
//
// The other half is for the service: a fresh environment (Environment), the check before a start (Program), and the
// end of a program through its wrapper (Signal, Kill).
//
// It imports the root package and runtime/durable and does nothing at init; package runtime, runtime/task and
// cmd/hitchpost import it.
package launch

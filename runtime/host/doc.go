// Package host looks at the processes of this machine.
//
// It finds the processes that carry a mark in their environment, for any number of marks in one look. A process has
// the environment that it was started with, wherever it has gone since: into a session of its own, to another parent,
// into the background. So what a terminal session left behind is known by its mark when neither tmux nor its wrapper
// knows of it any more.
//
// What cannot be found so: a program that was started with a clean environment (env -i, sudo, su -, a service manager,
// cron, at), one that wrote over its environment (as some servers do to show a title in ps), and one of another account
// where this one may not look. The answer is therefore "at least these", never "no others".
//
// It imports nothing of ours and starts nothing; package runtime imports it.
package host

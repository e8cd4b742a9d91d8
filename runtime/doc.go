// Package runtime does what Hitchpost is asked: it starts, attaches, stops, restarts, closes and renames sessions, runs
// tasks, and keeps what the store remembers true to what tmux really runs.
//
// Service is the only door: the menu, command mode and the front door call it, and it refuses what a role may not do.
// Its drivers are the packages below this one. Truth flows one way: observe (tmux, exit records), plan (a pure
// function), act, record; a state in the store changes in no other way than by a person's request or by what was
// observed.
//
// It may be imported by sshd and cmd. Files that need Go's own runtime package import that one as goruntime.
package runtime

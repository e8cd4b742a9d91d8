// Package tmux runs the private tmux server that holds every session of a node, and attaches terminals to it.
//
// The server is ours alone: its socket lies in a directory of mode 0700, its configuration is our own and no user's
// tmux.conf is read, its environment is the one it was given, and it outlives the process that started it. Nothing a
// person typed stands where tmux expands it: sessions are called hp-<id> and tasks hpt-<id>, targets are exact, the
// program, its directory and its environment come in by a file that tmux does not read, and text for a pane as a quoted
// buffer, which tmux takes as it is.
//
// It promises that an answer is either healthy and complete or an error (unknown is not gone), that each call ends
// within five seconds whatever state the server is in, and that a view starts with the history and the screen of one
// instant: no line missing between them, none twice.
//
// Package runtime imports it; it imports runtime/pty and the root package.
package tmux

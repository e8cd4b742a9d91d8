// Package host looks at this machine and its processes. It starts nothing, changes nothing and imports nothing of ours;
// package runtime imports it.
//
// Marked finds the processes that carry a mark in their environment, for any number of marks in one look. A process has
// the environment that it was started with, wherever it has gone since: into a session of its own, to another parent,
// into the background. So what a terminal session left behind is known by its mark when neither tmux nor its wrapper
// knows of it any more. What cannot be found so: a program that was started with a clean environment (env -i, sudo,
// su -, a service manager, cron, at), one that wrote over its environment (as some servers do to show a title in ps),
// and one of another account where this one may not look.
//
// TreeOf tells what a process and its descendants cost and for how long they have run. Agents finds the programs that work
// on a tree by themselves, by the name of what they run, whoever started them. InDir finds what works in a directory.
// Facts tells how busy the machine is.
//
// Every answer is of one look, at a table that changes meanwhile. What ends during the look is left out and is no error;
// what may not be read by this account is left out or has empty fields, and is counted where that matters. So an answer
// means "at least these", never "no others".
//
// Names, command lines, directories and marks were chosen by whoever runs the processes. They are raw: not fit to be
// shown before control characters are taken out.
//
// A look is short, but the kernel holds up the reading of a process whose memory it is busy with, at worst for as long
// as a network disk is away, and neither a context nor a signal cuts that off. Contexts are heeded between two
// processes. Whoever must answer in time lets the look run beside itself.
package host

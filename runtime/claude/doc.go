// Package claude knows Claude Code: how a session's process of it is launched and started again, and how it is observed.
//
// Launching is planned here and carried out by package runtime. ParseWords takes apart what a person gives for claude
// and refuses what would break a session. Finder tells which version a program is. PlanStart and PlanRestart decide which
// conversation a run opens, and how; Plan.Argv, Environment and MergeSettings make what the process is given. The person's
// own words and settings are kept, and no file of theirs is written.
//
// Observing rests on what Claude Code writes down itself: the register of its live processes, the events of its hooks,
// which `hitchpost hook` leaves in a spool, and the transcript of a conversation. Nothing is read from the screen.
//
// Planners and judges are pure functions; what reads files is bounded in bytes and time, since other programs write them.
// It imports the root package and runtime/durable and does nothing at init; package runtime and cmd/hitchpost import it.
package claude

// Package store remembers: sessions, tasks, events, who is attached, keys and nodes, in PostgreSQL 13 or newer.
//
// What it promises:
//
//   - A state changes only by a compare-and-set write that hitchpost.Next allows, and the event that tells of it is
//     appended in the same transaction, as is the notification that wakes every listener.
//   - Every call ends within Deadline, whatever the server does, and may be made from many goroutines at once.
//   - Errors are of hitchpost's kinds. A database that is away, slow or read-only gives UnavailableError.
//   - Nothing outside the database happens inside a transaction.
//
// Times are in UTC, with microseconds. They come from the database's clock, leases of starts and stops (lease_until)
// included, except for what callers have seen themselves: when a process ended (ended_at) and last printed something
// (last_output_at), when a key was used. SQL stands beside the function that runs it and takes every value as a
// parameter. It imports the root package and migrations; runtime and cmd may import it.
package store

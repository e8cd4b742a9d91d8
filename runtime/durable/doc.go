// Package durable keeps small files whole: a reader sees the old file or the new one, never a part, and so it is after a
// power loss. What describes a run and what became of it is kept that way.
//
// It imports nothing of ours and does nothing at init; package runtime, runtime/launch, runtime/task and
// cmd/hitchpost import it.
package durable

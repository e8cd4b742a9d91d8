package hitchpost

import "time"

// Checkpoint is the files of a session's working tree as they were at one moment: those that are tracked or not ignored.
type Checkpoint struct {
	N       int // counts up within the session
	At      time.Time
	Message string // as somebody gave it: not fit to be shown as it is
	Commit  string // that holds them
	Head    string // commit that was checked out; empty where there was none
	Files   int    // that differed from the checkpoint before, or from Head where there was none before
	LeftOut int    // files that were left out, for they are too big or cannot be read
}

// MadeCheckpoint is what came of the wish for a checkpoint.
type MadeCheckpoint struct {
	Checkpoint
	New  bool          // false: the files are as in the newest one, which this is
	Left []LeftOutFile // the first of those that were left out
}

// LeftOutFile is a file that a checkpoint does not hold as it was.
type LeftOutFile struct {
	Path string // from the top of the tree; not necessarily UTF-8
	Why  string
	Size int64 // bytes
}

// CheckpointDiff is what has changed since a checkpoint.
type CheckpointDiff struct {
	Checkpoint Checkpoint
	Stat       DiffStat
	Patch      string // unified diff, raw: it holds what the files hold
	Cut        bool   // there was more
}

// RestoredCheckpoint is a branch that holds a checkpoint.
type RestoredCheckpoint struct {
	Checkpoint Checkpoint
	Branch     string
}

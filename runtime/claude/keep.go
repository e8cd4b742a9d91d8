package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

const (
	// keepBefore is how long before it goes a transcript is copied.
	keepBefore = 5 * 24 * time.Hour
	// keptBytes bounds a copy.
	keptBytes = 256 << 20
)

// ExpiresAt is when Claude Code may remove a transcript that was changed last at a time. Zero days are 0: at its next
// start.
func ExpiresAt(changed time.Time, days int) time.Time {
	return changed.Add(time.Duration(days) * 24 * time.Hour)
}

// KeptTranscript is where Keep puts the copy of a conversation's transcript.
func KeptTranscript(folder, conversation string) string {
	return filepath.Join(folder, conversation+".jsonl")
}

// Keep copies a transcript into folder, under its own name, when Claude Code would remove it within five days: without
// it a session cannot be resumed. The copy is durable, whole or not at all, has the transcript's time of change, and is
// not made again while size and time are the same. kept tells that there is a copy of the transcript as it is now. It is
// never put back by itself: Claude Code's directory is not ours to write to. A transcript above 256 MiB is a
// ConflictError.
func Keep(ctx context.Context, transcript, folder string, days int, now time.Time) (kept bool, err error) {
	f, about, err := openRegular(transcript)
	if err != nil {
		return false, fmt.Errorf("keep a transcript: %w", err)
	}
	defer func() { _ = f.Close() }() // only read
	if now.Before(ExpiresAt(about.ModTime(), days).Add(-keepBefore)) {
		return false, nil
	}
	path := filepath.Join(folder, filepath.Base(transcript))
	if copied, err := os.Lstat(path); err == nil && copied.Mode().IsRegular() && copied.Size() == about.Size() &&
		copied.ModTime().Equal(about.ModTime()) {
		return true, nil
	}
	if about.Size() > keptBytes {
		mebibytes := about.Size() >> 20
		return false, hitchpost.Errorf(hitchpost.ConflictError, "the transcript is too large to be kept: %d MiB", mebibytes).
			Hinted("raise cleanupPeriodDays in Claude Code's settings, or resume the session before it goes")
	}
	if err := copyDurably(ctx, f, about, path); err != nil {
		return false, fmt.Errorf("keep a transcript: %w", err)
	}
	return true, nil
}

// copyDurably puts what f holds at path, with mode 0600. It leaves the old file, and nothing else, where it fails.
func copyDurably(ctx context.Context, f io.Reader, about os.FileInfo, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	to, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = io.CopyN(to, heeding{ctx, f}, about.Size()) // a line that is added meanwhile comes with the next copy
	if err == nil {
		err = os.Chtimes(to.Name(), time.Time{}, about.ModTime())
	}
	if err == nil {
		err = to.Sync()
	}
	if err = errors.Join(err, to.Close()); err == nil {
		err = os.Rename(to.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(to.Name()))
	}
	return durable.SyncDir(filepath.Dir(path))
}

// heeding reads until its context ends.
type heeding struct {
	ctx context.Context //nolint:containedctx // lives for one copy
	r   io.Reader
}

func (h heeding) Read(p []byte) (int, error) {
	if h.ctx.Err() != nil {
		return 0, context.Cause(h.ctx)
	}
	return h.r.Read(p)
}

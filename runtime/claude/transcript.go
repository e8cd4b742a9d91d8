package claude

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hitchpost/hitchpost"
)

const (
	// projectDirs bounds how many directories of transcripts are looked into.
	projectDirs = 20_000
	// firstMessageBytes is how far into a transcript a message is looked for. They begin with one, or have none.
	firstMessageBytes = 64 << 20
	// lineBytes is the longest line of a transcript that is read; longer ones, which hold pictures, are passed over.
	lineBytes = 1 << 20
)

// TranscriptState tells what a conversation has on disk.
type TranscriptState string

// The states of a transcript.
const (
	TranscriptNone     TranscriptState = "none"     // there is no file
	TranscriptEmpty    TranscriptState = "empty"    // a file without a message: it can be neither resumed nor begun anew
	TranscriptMessages TranscriptState = "messages" // it can be resumed
)

// FindTranscript finds the transcript of a conversation, whatever directory it was in. Where several files have its name,
// it is the one with messages that was changed last. The state is TranscriptNone, with an empty path, where there is none.
// An error means that nothing is known.
func FindTranscript(ctx context.Context, configDir, conversation string) (path string, state TranscriptState, err error) {
	if !IsConversation(conversation) {
		return "", "", hitchpost.Errorf(hitchpost.UsageError, "a conversation's id is a UUID")
	}
	projects := filepath.Join(configDir, "projects")
	dirs, err := readNames(projects, projectDirs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", TranscriptNone, nil
	}
	if err != nil {
		return "", "", err
	}
	state = TranscriptNone
	var changed time.Time
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return "", "", context.Cause(ctx)
		}
		name := filepath.Join(projects, dir, conversation+".jsonl")
		about, err := os.Lstat(name)
		if err != nil || !about.Mode().IsRegular() {
			continue
		}
		found, err := stateOf(ctx, name)
		if err != nil {
			return "", "", err
		}
		better := found == state && about.ModTime().After(changed)
		if path == "" || better || found == TranscriptMessages && state == TranscriptEmpty {
			path, state, changed = name, found, about.ModTime()
		}
	}
	return path, state, nil
}

// stateOf looks for the first message of a transcript.
func stateOf(ctx context.Context, path string) (TranscriptState, error) {
	f, _, err := openRegular(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	state := TranscriptEmpty
	_, err = eachLine(ctx, io.LimitReader(f, firstMessageBytes), func(line []byte) bool {
		var l struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(line, &l) == nil && (l.Type == "user" || l.Type == "assistant") {
			state = TranscriptMessages
		}
		return state == TranscriptEmpty
	})
	return state, err
}

// openRegular opens a regular file for reading. It follows no link and waits for no writer of a FIFO.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	about, err := f.Stat()
	if err == nil && !about.Mode().IsRegular() {
		err = errUnfit
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, about, nil
}

// eachLine gives the whole lines of r to take until that returns false, and returns how many bytes they had together,
// those that are too long for take included. What follows the last line end is not a line yet.
func eachLine(ctx context.Context, r io.Reader, take func(line []byte) bool) (n int64, err error) {
	b := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	size := int64(0)
	for {
		part, err := b.ReadSlice('\n')
		size += int64(len(part))
		if size <= lineBytes {
			line = append(line, part...)
		}
		switch {
		case err == nil:
			n += size
			if size <= lineBytes && !take(bytes.TrimSpace(line)) {
				return n, nil
			}
			line, size = line[:0], 0
		case errors.Is(err, io.EOF):
			return n, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return n, err
		}
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
	}
}

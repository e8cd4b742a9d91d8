package claude

import (
	"context"
	"hash/maphash"
	"io"
	"os"
)

const (
	// tallyBytes is how much of a transcript one Read of a Tally goes through.
	tallyBytes = 16 << 20
	// tallyMessages bounds how many messages a Tally tells apart; what comes above is counted without a look back.
	tallyMessages = 1 << 20
)

// Tally counts the tokens of a whole transcript as it grows. It keeps where it was, so that each line is read once for as
// long as the Tally lives; a transcript that is another file since, or became shorter, is counted anew. It is for one
// goroutine at a time. The zero value has counted nothing.
type Tally struct {
	file   os.FileInfo // that was read; nil: none yet
	offset int64       // behind the last whole line that was counted
	seed   maphash.Seed
	seen   map[uint64]struct{} // ids of messages
	last   string              // id of the last message
	lastly usage               // what it took: each of its lines tells it anew, the last one whole
	sum    Tokens
}

// Tokens is what a conversation took so far.
type Tokens struct {
	In  int64 // all that the model was given, from its cache or not, summed over its answers
	Out int64
	// Whole tells that the transcript was counted to its end. While it is false the numbers grow with each Read.
	Whole bool
}

// Read counts what came to the transcript since the last time, at most 16 MiB of it. A message that stands on several
// lines is counted once.
func (t *Tally) Read(ctx context.Context, path string) (Tokens, error) {
	f, about, err := openRegular(path)
	if err != nil {
		return Tokens{}, err
	}
	defer func() { _ = f.Close() }() // only read
	if t.file == nil || !os.SameFile(t.file, about) || about.Size() < t.offset {
		*t = Tally{seed: maphash.MakeSeed(), seen: map[uint64]struct{}{}}
	}
	t.file = about
	left := about.Size() - t.offset
	n, err := eachLine(ctx, io.NewSectionReader(f, t.offset, min(left, tallyBytes)), t.take)
	t.offset += n
	if n == 0 && left >= tallyBytes {
		t.offset += tallyBytes // one line that is longer than all that is read: what is left of it is no JSON
	}
	t.sum.Whole = left < tallyBytes
	return t.sum, err
}

func (t *Tally) take(line []byte) bool {
	l, ok := parseLine(line)
	if !ok || l.Type != "assistant" || l.Message.Usage == (usage{}) {
		return true
	}
	id := l.Message.ID
	switch {
	case id != "" && id == t.last:
		t.sum.In -= t.lastly.in()
		t.sum.Out -= t.lastly.out()
	case id != "":
		key := maphash.String(t.seed, id)
		if _, ok := t.seen[key]; ok {
			return true
		}
		if len(t.seen) < tallyMessages {
			t.seen[key] = struct{}{}
		}
	}
	t.last, t.lastly = id, l.Message.Usage
	t.sum.In += t.lastly.in()
	t.sum.Out += t.lastly.out()
	return true
}

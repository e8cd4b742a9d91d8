package task

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// Log reads the output of a task, during its life and after it. It has a position, at the start at first, which Tail,
// WriteTo and Follow move. Where bytes were left out of the log, because it reached its limit or the disk was full, the
// reader gets a line of its own instead:
//
//	[hitchpost: 36700160 bytes of output left out]
//
// A Log is for one goroutine at a time.
type Log struct {
	folder  string
	pos     int64    // in the output
	file    *os.File // the piece that was read last; nil: none
	start   int64    // where it begins
	midline bool     // the last byte given was not the end of a line
	buf     []byte
}

// OpenLog opens the log of the task in folder. It wraps fs.ErrNotExist where there is no task. The caller closes it.
func OpenLog(folder string) (*Log, error) {
	if _, err := readSpec(folder); err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return &Log{folder: folder}, nil
}

// Close lets go of the log. It does not end a Follow in flight: the context does.
func (l *Log) Close() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// WriteTo writes what the log holds now from the position on, and moves the position behind it. The number is that of
// the bytes written to w.
func (l *Log) WriteTo(w io.Writer) (int64, error) {
	record, err := l.record()
	if err != nil {
		return 0, err
	}
	limit := int64(math.MaxInt64)
	if record == nil { // a command that writes all the time would keep the reader for as long
		if limit, err = written(l.folder); err != nil {
			return 0, fmt.Errorf("read log: %w", err)
		}
	}
	n, err := l.copy(w, limit)
	if err == nil && record != nil {
		var more int64
		more, err = l.skip(w, record.LogBytes)
		n += more
	}
	return n, err
}

// Follow writes what the log holds from the position on, and what comes, until the end: it is nil once the task is over
// (see Seen.Over) and all that was written before is out. It waits for a task that has not been started. Otherwise it
// is the cause of ctx, or what w or the folder failed with. A Write of w that blocks is not ended by ctx. Output that
// leaves the log before it was read is a gap.
func (l *Log) Follow(ctx context.Context, w io.Writer) error {
	changes := watchFolder(l.folder)
	defer changes.close()
	for {
		// The end is looked for first: what was written before it is there then.
		over, err := isOver(l.folder)
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if over {
			record, err := l.record()
			if err == nil {
				_, err = l.copy(w, math.MaxInt64)
			}
			if err == nil && record != nil {
				_, err = l.skip(w, record.LogBytes)
			}
			return err
		}
		if _, err := l.copy(w, math.MaxInt64); err != nil {
			return err
		}
		if err := changes.next(ctx); err != nil {
			return err
		}
	}
}

// record is that of the task, and nil where there is none.
func (l *Log) record() (*Record, error) {
	record, err := readRecord(l.folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read log: %w", err)
	}
	return record, nil
}

// copy writes what there is from the position on, and at least up to limit.
func (l *Log) copy(w io.Writer, limit int64) (total int64, err error) {
	for l.pos < limit {
		next, later, err := l.choose()
		if err != nil {
			return total, fmt.Errorf("read log: %w", err)
		}
		n, err := l.read(w)
		total += n
		if err != nil {
			return total, err
		}
		if later {
			n, err := l.skip(w, next)
			total += n
			if err != nil {
				return total, err
			}
			if err := l.Close(); err != nil {
				return total, fmt.Errorf("read log: %w", err)
			}
		} else if n == 0 {
			return total, nil
		}
	}
	return total, nil
}

// choose opens the piece at the position, unless it is open, and tells where a later one begins. If there is one, the
// piece at hand has its final size: the look for it comes before the read.
func (l *Log) choose() (next int64, later bool, err error) {
	all, err := starts(l.folder)
	if err != nil {
		return 0, false, err
	}
	at := int64(-1)
	if l.file != nil {
		at = l.start // it may have left the log meanwhile
	}
	for _, start := range all {
		if l.file == nil && start <= l.pos {
			at = start
		} else if start > at {
			next, later = start, true
			break
		}
	}
	if l.file != nil || at < 0 {
		return next, later, nil
	}
	file, err := os.Open(in(l.folder, segmentName(at)))
	if errors.Is(err, fs.ErrNotExist) {
		return l.choose() // it has just left the log
	}
	l.file, l.start = file, at
	return next, later, err
}

// read writes the rest of the open piece.
func (l *Log) read(w io.Writer) (total int64, err error) {
	if l.file == nil {
		return 0, nil
	}
	if l.buf == nil {
		l.buf = make([]byte, 64<<10)
	}
	for {
		n, err := l.file.ReadAt(l.buf, l.pos-l.start)
		if n > 0 {
			if n, err := w.Write(l.buf[:n]); err != nil {
				l.pos += int64(n)
				return total + int64(n), err
			}
			l.midline = l.buf[n-1] != '\n'
			l.pos += int64(n)
			total += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, fmt.Errorf("read log: %w", err)
		}
	}
}

// skip moves the position forward to next and says so in a line of its own.
func (l *Log) skip(w io.Writer, next int64) (int64, error) {
	if next <= l.pos {
		return 0, nil
	}
	line := gapLine(next - l.pos)
	if l.midline {
		line = "\n" + line
	}
	n, err := io.WriteString(w, line)
	l.pos, l.midline = next, false
	return int64(n), err
}

func gapLine(bytes int64) string {
	return fmt.Sprintf("[hitchpost: %d bytes of output left out]\n", bytes)
}

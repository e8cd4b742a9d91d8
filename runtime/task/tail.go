package task

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Tail moves the position to where the last n lines begin that the log holds now, a last line without an end and the
// line of a gap being lines as well; to the end for n of 0 or less.
func (l *Log) Tail(n int) error {
	if err := l.Close(); err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	record, err := l.record()
	if err != nil {
		return err
	}
	list, err := segments(l.folder)
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	end := int64(0)
	if len(list) > 0 {
		end = list[len(list)-1].end()
	}
	if record != nil {
		end = max(end, record.LogBytes)
	}
	l.pos, l.midline = end, false
	if n <= 0 {
		return nil
	}
	c := &counter{left: n, last: end}
	if err := l.countBack(c, list, end); err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	l.pos = c.last
	return nil
}

// counter counts the places where lines begin, from the end backwards.
type counter struct {
	left int
	last int64 // the place counted last; the end of the log is none
}

// begins counts a line that begins at pos, once, and reports whether that was the last one wanted.
func (c *counter) begins(pos int64) (done bool) {
	if pos != c.last {
		c.last = pos
		c.left--
	}
	return c.left == 0
}

// countBack finds the beginnings of lines in the pieces of list, and in what is left out between them and before end.
func (l *Log) countBack(c *counter, list []segment, end int64) error {
	edge := end // everything from here on has been looked at
	for i := len(list) - 1; i >= 0; i-- {
		s := list[i]
		if s.end() < edge && (c.begins(edge) || c.begins(s.end())) {
			return nil
		}
		edge = s.start
		done, err := l.countIn(c, s)
		if err != nil || done {
			return err
		}
	}
	if edge > 0 && c.begins(edge) { // the first piece is gone
		return nil
	}
	c.begins(0)
	return nil
}

func (l *Log) countIn(c *counter, s segment) (done bool, err error) {
	file, err := os.Open(in(l.folder, segmentName(s.start)))
	if errors.Is(err, fs.ErrNotExist) {
		return c.begins(s.end()), nil // it has just left the log: a gap begins no later
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	block := make([]byte, 64<<10)
	for end := s.size; end > 0; {
		from := max(0, end-int64(len(block)))
		part := block[:end-from]
		if n, err := file.ReadAt(part, from); n < len(part) {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return false, err
		}
		for i := bytes.LastIndexByte(part, '\n'); i >= 0; i = bytes.LastIndexByte(part[:i], '\n') {
			if c.begins(s.start + from + int64(i) + 1) {
				return true, nil
			}
		}
		end = from
	}
	return false, nil
}

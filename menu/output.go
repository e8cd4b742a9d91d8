package menu

import (
	"bytes"
	"io"
)

// lineEnds writes each LF as CR LF. The renderer of a program without a terminal of its own moves down with a bare LF
// and counts on the kernel for the CR (termios ONLCR); there is no kernel between it and an SSH channel. An LF that has
// its CR already is left alone. It is used from one goroutine at a time.
type lineEnds struct {
	w   io.Writer
	buf []byte
	cr  bool // the last byte was a CR
}

func (l *lineEnds) Write(p []byte) (int, error) {
	if bytes.IndexByte(p, '\n') < 0 {
		if len(p) > 0 {
			l.cr = p[len(p)-1] == '\r'
		}
		return l.w.Write(p)
	}
	l.buf = l.buf[:0]
	for _, c := range p {
		if c == '\n' && !l.cr {
			l.buf = append(l.buf, '\r')
		}
		l.buf = append(l.buf, c)
		l.cr = c == '\r'
	}
	if _, err := l.w.Write(l.buf); err != nil {
		return 0, err
	}
	return len(p), nil
}

package task

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// bufferSize is that of a pipe, pipe(7).
const bufferSize = 64 << 10

// sink takes the output of a command into its log.
type sink struct {
	pipe *os.File
	log  *keeper
	buf  []byte
	done chan struct{}
	over bool // nobody holds the other end any more
}

// begin takes what comes, until end. Nothing but end may be called meanwhile.
func (s *sink) begin() {
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		for {
			n, err := s.pipe.Read(s.buf)
			s.log.write(s.buf[:n])
			if err != nil {
				s.over = !errors.Is(err, os.ErrDeadlineExceeded)
				return
			}
		}
	}()
}

// end has begin's work end. What is in the pipe stays there.
func (s *sink) end() {
	_ = s.pipe.SetReadDeadline(time.Unix(1, 0))
	<-s.done
	_ = s.pipe.SetReadDeadline(time.Time{})
}

// drain takes what is in the pipe now, and not what others go on writing: that could be without end.
func (s *sink) drain() {
	if s.over {
		return
	}
	for left := s.waiting(); left > 0; {
		n, err := s.pipe.Read(s.buf[:min(left, len(s.buf))])
		s.log.write(s.buf[:n])
		left -= n
		if err != nil {
			return
		}
	}
}

// waiting is how many bytes are in the pipe.
func (s *sink) waiting() (n int) {
	raw, err := s.pipe.SyscallConn()
	if err != nil {
		return 0
	}
	if outer := raw.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), fionread) }); outer != nil || err != nil {
		return 0
	}
	return n
}

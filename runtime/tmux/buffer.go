package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// buffer is a tmux buffer that comes to us by a file, which the server writes within the same turn: no process is
// started for it and no size is too big. Where the disk has no room for that, path is empty and the buffer comes
// through a client, so that a full disk hides no history and keeps nobody out.
type buffer struct{ name, path string }

// bufferRoom is the space in bytes that must be left on the disk for buffers to go through it. The longest history of
// wide, coloured rows takes about as much.
const bufferRoom = 64 << 20

func (s *Server) newBuffer() buffer {
	b := buffer{name: s.bufferStem + strconv.FormatInt(s.buffers.Add(1), 10)}
	if room(s.program.layout.dir) >= s.bufferRoom {
		b.path = s.program.layout.buffer(b.name)
	}
	return b
}

// room is how many bytes the disk of dir takes; plenty where the system does not tell.
func room(dir string) uint64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return math.MaxUint64
	}
	return st.Bavail * uint64(st.Bsize)
}

const sizeMark = "buffer-size "

// mark is what the line with the size of the buffer begins with.
func (b buffer) mark() string { return sizeMark + b.name + " " }

// save tells the size of the buffer, writes it to its file and removes it.
func (b buffer) save() []command {
	told := command{"list-buffers", "-f", "#{==:#{buffer_name}," + b.name + "}", "-F", b.mark() + "#{buffer_size}"}
	if b.path == "" {
		return []command{told}
	}
	// The path is a format to tmux.
	return []command{told, {"save-buffer", "-b", b.name, literal(b.path)}, {"delete-buffer", "-b", b.name}}
}

// collect returns the text of a buffer that was saved, and what else the call said, and leaves neither the file nor
// the buffer behind. No buffer is no text. tmux reports a disk that is full late and elsewhere, so the size is what
// tells whether all came.
func (s *Server) collect(ctx context.Context, b buffer, out string, called error) (text []byte, rest string, err error) {
	size := 0
	for l := range strings.Lines(out) {
		switch n, ok := strings.CutPrefix(strings.TrimSpace(l), b.mark()); {
		case ok:
			size, _ = strconv.Atoi(n) // 0 where it is no number, which is then not what came
		case !strings.HasPrefix(l, sizeMark):
			rest += l
		}
	}
	text, err = s.fetch(ctx, b, size)
	switch {
	case called != nil:
		err = called
	case err == nil && len(text) != size && b.path != "":
		err = hitchpost.Errorf(hitchpost.UnavailableError, "a buffer of %d bytes came as %d, the disk of %s takes no more", size,
			len(text), s.program.layout.dir).Hinted("free space and try again")
	case err == nil && len(text) != size:
		err = fmt.Errorf("a buffer of %d bytes came as %d", size, len(text))
	}
	if err == nil {
		return text, rest, nil
	}
	// tmux stops at the first command that fails. A call that it did not answer it carries out to the end later.
	if r := refusal(""); b.path == "" || errors.As(err, &r) && !r.noTarget() {
		_, _ = s.call(ctx, false, command{"delete-buffer", "-b", b.name}) // the first error is the one to tell
	}
	return nil, rest, err
}

// fetch takes the text of a buffer of that size out of its file, or out of tmux.
func (s *Server) fetch(ctx context.Context, b buffer, size int) ([]byte, error) {
	if b.path == "" {
		if size == 0 {
			return nil, nil
		}
		text, err := s.show(ctx, b, size)
		_, derr := s.call(ctx, false, command{"delete-buffer", "-b", b.name})
		return text, errors.Join(err, derr)
	}
	text, err := os.ReadFile(b.path)
	if rerr := os.Remove(b.path); err == nil {
		err = rerr
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return text, err
}

// show reads a buffer of that size from a client. The size tells when all has come: the pipe's end does not, as the
// server holds it for a while after the client, and output gives up on it then.
func (s *Server) show(ctx context.Context, b buffer, size int) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := s.program.client(ctx, nil, "show-buffer", "-b", b.name)
	cmd.Stdout = w
	err = cmd.Start()
	_ = w.Close() // the client has its own
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	limit, _ := ctx.Deadline()
	err = r.SetReadDeadline(limit)
	text := make([]byte, size)
	n, rerr := io.ReadFull(r, text)
	if errors.Is(rerr, io.EOF) || errors.Is(rerr, io.ErrUnexpectedEOF) {
		rerr = nil // the caller sees that it is short
	}
	return text[:n], errors.Join(err, rerr, r.Close(), cmd.Wait())
}

package tmux

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxReply bounds what one command may answer; a healthy answer is far below it.
const maxReply = 16 << 20

// reply is the answer to one line: what it printed, and the errors among it. It must not be copied: a strings.Builder
// points at itself, unseen by the compiler, and a copy keeps that pointer when the first one's stack has gone, which ends
// the process at the next collection.
type reply struct {
	marker string
	text   strings.Builder
	errs   []string
}

func (r *reply) err() error {
	if len(r.errs) == 0 {
		return nil
	}
	return refusal(strings.Join(r.errs, "; "))
}

// replies reads what a control client prints (tmux(1), CONTROL MODE): blocks between %begin and %end or %error, and
// notifications. A block ends at the line that repeats all three numbers of its beginning, as text inside may look
// like an end. Each line that is sent is followed by a second one that only prints a marker, so that an answer of
// any number of blocks has a certain end.
type replies struct {
	r       *bufio.Reader
	isMark  func(string) bool
	done    func(*reply)
	event   func(name string)
	current *reply // nil: none is under way
}

var errFlood = errors.New("tmux answered more than can be right")

// run reads until the client ends; the error is never nil.
func (p *replies) run() error {
	for {
		l, err := p.line()
		if err != nil {
			return err
		}
		if nums, ok := bytes.CutPrefix(l, []byte("%begin ")); ok {
			if err := p.block(string(nums)); err != nil {
				return err
			}
			continue
		}
		if len(l) > 0 && l[0] == '%' {
			name, rest, _ := strings.Cut(string(l), " ")
			if name == "%exit" {
				return fmt.Errorf("tmux let go of the control client: %s", rest)
			}
			p.event(name)
		}
	}
}

func (p *replies) block(nums string) error {
	var text strings.Builder
	for {
		l, err := p.line()
		if err != nil {
			return err
		}
		if string(l) == "%end "+nums {
			p.end(text.String(), false)
			return nil
		}
		if string(l) == "%error "+nums {
			p.end(text.String(), true)
			return nil
		}
		if text.Len()+p.reply().text.Len()+len(l) > maxReply {
			return errFlood
		}
		text.Write(l)
		text.WriteByte('\n')
	}
}

// reply is the one under way.
func (p *replies) reply() *reply {
	if p.current == nil {
		p.current = &reply{}
	}
	return p.current
}

func (p *replies) end(text string, failed bool) {
	r := p.reply()
	switch mark := strings.TrimSuffix(text, "\n"); {
	case failed:
		r.errs = append(r.errs, mark)
	case p.isMark(mark):
		r.marker, p.current = mark, nil
		p.done(r)
	default:
		r.text.WriteString(text)
	}
}

// line reads one line of up to maxReply bytes without its end. It is valid until the next call.
func (p *replies) line() ([]byte, error) {
	l, err := p.r.ReadSlice('\n')
	if err == nil {
		return bytes.TrimSuffix(l, []byte("\n")), nil
	}
	if !errors.Is(err, bufio.ErrBufferFull) {
		if errors.Is(err, io.EOF) {
			return nil, errLost
		}
		return nil, err
	}
	whole := bytes.Clone(l)
	for errors.Is(err, bufio.ErrBufferFull) {
		if len(whole) > maxReply {
			return nil, errFlood
		}
		l, err = p.r.ReadSlice('\n')
		whole = append(whole, l...)
	}
	if err != nil {
		return nil, errLost
	}
	return bytes.TrimSuffix(whole, []byte("\n")), nil
}

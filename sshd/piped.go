package sshd

import (
	"context"
	"errors"
	"io"

	gossh "golang.org/x/crypto/ssh"
)

// piped is what a client pipes into a command. SSH ends the input of a client that has gone in the same way as that of
// one that has sent all, so at the end the client is asked whether it is there.
type piped struct {
	*stageInput
	ctx  context.Context //nolint:containedctx // of the command
	conn gossh.Conn
}

// Read is io.EOF once the client has sent all and waits for what becomes of it, and io.ErrUnexpectedEOF where it went
// away, or the command was ended, before that: what was read then may be half of what was meant.
func (p piped) Read(b []byte) (int, error) {
	n, err := p.stageInput.Read(b)
	if errors.Is(err, io.EOF) && !p.there() {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// there asks the client a question that every one must answer, if only with a failure (RFC 4254 section 4). It returns
// when the answer comes, or the connection ends.
func (p piped) there() bool {
	if p.ctx.Err() != nil {
		return false
	}
	_, _, err := p.conn.SendRequest("keepalive@openssh.com", true, nil)
	return err == nil && p.ctx.Err() == nil
}

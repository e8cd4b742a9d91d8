package sshd

import (
	"context"
	"errors"
	"io"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/menu"
)

// pick shows the picker with the notice, and again after each view, until the person leaves. It returns the exit
// status.
func (s *session) pick(ctx context.Context, notice string) int {
	defer s.conn.pickers.Add(-1)
	if s.conn.pickers.Add(1) > int32(s.conn.srv.cfg.Limits.Pickers) {
		return s.fail(hitchpost.Errorf(hitchpost.ConflictError, "too many lists are open on this connection").
			Hinted("close one, or connect again"))
	}
	selected := s.conn.srv.cfg.Service.Last(ctx, s.id.actor)
	for {
		choice, err := s.choose(ctx, selected, notice)
		switch {
		case ctx.Err() != nil:
			if reason(ctx) != nil && s.env.value("HITCHPOST_PLAIN") != "1" {
				// What the menu itself wrote at its end may have been cut off.
				_ = s.out.within(s.conn.srv.cfg.Limits.Farewell, &s.work, []byte(TerminalReset))
			}
			return s.ended(ctx)
		case errors.Is(err, io.EOF), err == nil && choice.Attach == "":
			return 0
		case err != nil:
			return s.fail(err)
		}
		selected = choice.Attach
		status, over, err := s.visit(ctx, hitchpost.AttachRequest{Ref: choice.Attach})
		if over {
			return status
		}
		notice = ""
		if err != nil {
			notice = noticeLine(err)
		}
	}
}

// choose is one run of the picker. The input is the picker's until it returns, and not a moment longer.
func (s *session) choose(ctx context.Context, selected, notice string) (menu.Choice, error) {
	in := s.in.open()
	defer s.in.pause()
	return s.conn.srv.cfg.Pick(ctx, menu.Config{
		Actor:      s.id.actor,
		Terminal:   s.terminalNow(),
		Environ:    s.env.list(),
		Selected:   selected,
		Notice:     notice,
		In:         in,
		Out:        &cooked{w: s.until(ctx, s.out)},
		Sizes:      s.sizes.changed,
		Background: s.background,
		Log:        s.log,
	})
}

// background runs work that goes on when the session ends.
func (s *session) background(work func()) {
	srv := s.conn.srv
	if !srv.background.enter() {
		return
	}
	go func() {
		defer srv.background.leave()
		defer guard(s.log)
		work()
	}()
}

// visit attaches to a session from the picker, as often as the person restarts it. The second value is true where the
// connection ends with it; an error is for the picker to show.
func (s *session) visit(ctx context.Context, req hitchpost.AttachRequest) (status int, over bool, err error) {
	for {
		end, err := s.view(ctx, req)
		if err != nil {
			return 0, false, err
		}
		status, over = s.leave(ctx, end)
		switch {
		case ctx.Err() != nil, over && end.Reason == hitchpost.EndCut:
			return status, true, nil
		case over: // detached: back to the picker
			return 0, false, nil
		}
		line, choices := endedLine, "rq\r\n"
		if !s.id.actor.May(hitchpost.Drive) {
			line, choices = viewerLine, "q\r\n"
		}
		switch s.ask(ctx, line, choices) {
		case 'q':
			return 0, true, nil
		case 'r':
			if err := s.restart(ctx, end.Session.ID); err != nil {
				return 0, false, err
			}
		default:
			return 0, false, nil
		}
	}
}

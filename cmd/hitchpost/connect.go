package main

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd"
)

func (p *program) connectCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "connect [SSH OPTION…] HOST [REF]",
		Short: "ssh into HOST, and back into the same session after every drop",
		Long: `Runs the system's ssh with the options given, and runs it again when the connection drops or the service restarts,
until you leave. Keys typed while there is no connection are dropped. Ctrl-C ends the waiting.

ssh's own ~. drops the connection, so connect makes it again: leave with the detach key, or press Ctrl-C after it.`,
		Example: `  hitchpost connect hp
  hitchpost connect -p 2222 host.example notes`,
		DisableFlagParsing: true, // the options are ssh's
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && (args[0] == "--help" || args[0] == "-h") {
				return cmd.Help()
			}
			return p.connect(cmd.Context(), args)
		},
	}
}

// connect stays connected until the person leaves.
func (p *program) connect(ctx context.Context, args []string) error {
	call, err := parseSSHCall(args)
	if err != nil {
		return err
	}
	term, err := openTerminal(p.in, p.out)
	if err != nil {
		return err
	}
	path, err := exec.LookPath("ssh")
	if err != nil {
		return hitchpost.Errorf(hitchpost.FailedError, "ssh is not there: %w", err).Hinted("install the OpenSSH client")
	}
	id, err := uuid.NewV7()
	if err != nil {
		return hitchpost.Errorf(hitchpost.FailedError, "this client cannot name itself: %w", err)
	}
	errs, ok := p.err.(*os.File)
	if !ok {
		errs = term.out
	}
	c := &reconnector{
		path: path, call: call, keepAlive: !hasKeepAlive(ctx, path, call), id: id.String(), term: term, errs: errs,
		signals: make(chan os.Signal, 8), now: clock(time.Now()),
	}
	// HUP and TERM are for ssh too, and QUIT would else print this program's own stack over the person's screen.
	signal.Notify(c.signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(c.signals)
	return c.stay(ctx)
}

// stay runs ssh until an end that is no drop.
func (c *reconnector) stay(ctx context.Context) error {
	defer c.term.restore()
	var back backoff
	for try := 0; ; try++ {
		end, err := c.once(ctx, try > 0)
		if err != nil {
			return err
		}
		c.term.restore()
		c.been = c.been || end.seen || end.status == hitchpost.UnavailableError.ExitStatus()
		status, over := verdict(end, c.been)
		if over {
			c.endLine()
			return exitStatus(status)
		}
		if end.seen && end.status != hitchpost.UnavailableError.ExitStatus() {
			c.term.say(sshd.TerminalReset) // with 75 the server has sent it
		}
		if c.since.wall.IsZero() || end.seen {
			c.since = c.now()
		}
		if end.lasted >= longestWait {
			back = backoff{}
		}
		if end.slept {
			back = backoff{}
			c.term.flush()
			c.show(end.said)
			continue
		}
		woke, err := c.wait(ctx, back.next(), end.said)
		if err != nil {
			return err
		}
		if woke {
			back = backoff{}
		}
	}
}

// reconnector is one run of connect.
type reconnector struct {
	path      string // of ssh
	call      sshCall
	keepAlive bool // nobody said how ssh finds out that a connection is dead
	id        string
	term      *userTerminal
	errs      *os.File // of ssh
	signals   chan os.Signal
	now       func() moment

	been  bool   // a session was seen
	since moment // when the connection was lost; zero: not yet
	shown bool   // the line that tells so stands on the screen
}

// interrupted is the end of connect by a signal.
func (c *reconnector) interrupted(s os.Signal) error {
	c.endLine()
	number, _ := s.(syscall.Signal) // there are no others
	return exitStatus(128 + int(number))
}

// ender is the signal that ended the context: it comes by itself too, in the same moment. Where there was none, it is
// TERM.
func (c *reconnector) ender() os.Signal {
	limit := time.NewTimer(100 * time.Millisecond)
	defer limit.Stop()
	select {
	case s := <-c.signals:
		return s
	case <-limit.C:
		return syscall.SIGTERM
	}
}

// wait lets d pass, or less where the machine has slept meanwhile: then it is true. Nothing typed meanwhile is shown
// or kept. The error is the exit status where a signal ended it.
func (c *reconnector) wait(ctx context.Context, d time.Duration, why string) (woke bool, err error) {
	defer c.term.restore()
	defer c.term.flush()
	begin := c.now()
	last := begin
	tick := time.NewTicker(waitTick)
	defer tick.Stop()
	for {
		c.term.quiet() // each time: whoever stopped and continued this job has set the modes anew
		c.show(why)
		select {
		case s := <-c.signals:
			return false, c.interrupted(s)
		case <-ctx.Done():
			return false, c.interrupted(c.ender())
		case <-tick.C:
		}
		now := c.now()
		if asleep(last, now) > wakeJump {
			return true, nil
		}
		if last = now; now.awake-begin.awake >= d {
			return false, nil
		}
	}
}

// waitTick is how often a wait looks at the clock.
const waitTick = 200 * time.Millisecond

// show writes the one line that tells of the lost connection.
func (c *reconnector) show(why string) {
	c.term.line(reconnectingLine(c.since, c.now(), why))
	c.shown = true
}

// endLine leaves the line as it is and goes below it.
func (c *reconnector) endLine() {
	if c.shown {
		c.term.say("\r\n")
		c.shown = false
	}
}

// once runs ssh once and stays with it to its end.
func (c *reconnector) once(ctx context.Context, again bool) (sshEnd, error) {
	if again {
		c.term.quiet()
	}
	run, err := startSSH(c, again)
	if err != nil {
		return sshEnd{}, hitchpost.Errorf(hitchpost.FailedError, "ssh cannot be run: %w", err).
			Hinted("check %s", c.path)
	}
	return run.follow(ctx), nil
}

// hasKeepAlive tells whether the person's ssh finds out by itself that a connection is dead: by an option given or in
// the configuration. Where ssh cannot tell, it will say why itself when it is run.
func hasKeepAlive(ctx context.Context, path string, call sshCall) bool {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	// No command: with a RemoteCommand in the configuration ssh would take it for a mistake.
	out, err := exec.CommandContext(ctx, path, slices.Concat([]string{"-G"}, call.options, []string{"--", call.host})...).Output()
	return err == nil && keepAliveSet(string(out))
}

package sshd

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"charm.land/wish/v2"
	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/menu"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// Config is what a Server is made from. Signers, Log, Login, Service, Pick and Command are required.
type Config struct {
	Signers []ssh.Signer // host keys, the preferred first
	Version string       // of the product, for the version line; empty: none is told
	Log     *slog.Logger

	// Login decides about a key. It must answer from memory: it runs on the path of every login, more than once for
	// each, also for keys that were only offered. An error of kind RevokedError lets the owner of the key in as far as
	// the reason and no further; every other error refuses the key. It may be called from several goroutines.
	Login func(ctx context.Context, key ssh.PublicKey, user, remote string) (hitchpost.Actor, hitchpost.Key, error)

	// Entered, where set, is told of each login once the key has signed. It must not block.
	Entered func(hitchpost.Actor)

	// Refused, where set, is told of each connection that tried to log in and ended without, and of each key that is no
	// longer good. It must not block. What the client chose is told as it came.
	Refused func(hitchpost.Refusal)

	Service Service

	// Pick shows a person their sessions until they choose, as menu.Run does. It gets everything but a Service. It has
	// stopped using what it got when it returns.
	Pick func(context.Context, menu.Config) (menu.Choice, error)

	// Command runs one command and returns its exit status, as command.Run does. It gets everything but a Service.
	Command func(context.Context, command.Invocation) int

	// Middleware wraps every session, the first outermost.
	Middleware []wish.Middleware

	DetachKey DetachKey // the zero value is Ctrl-]
	Limits    Limits
}

// Limits bounds what clients may take. A zero field means its default.
type Limits struct {
	Handshake time.Duration // from accept to login; 20 s
	Stall     time.Duration // a client that is attached or follows something, and takes no output for so long, is cut; 30 s
	KeepAlive time.Duration // silence before a probe; three such intervals of silence end the connection; 15 s
	Stop      time.Duration // a graceful stop takes no longer; 4 s
	Farewell  time.Duration // a client gets so long to take the last words; 2 s
	Prompt    time.Duration // the offer after the end of a session stands for so long; 60 s

	Connections           int // logged in or not; 4096
	ConnectionsPerAddress int // logged in or not; 1024
	Waiting               int // not yet logged in, the oldest is dropped for a new one; 1024
	WaitingPerAddress     int // not yet logged in, the oldest is dropped for a new one; 256
	Channels              int // sessions on one connection; 64
	Pickers               int // pickers on one connection, each of which takes megabytes; 8

	Forgiven   int           // failed logins of an address without a penalty; 5
	Penalty    time.Duration // for the first failed login after these, doubled by each further one; 250 ms
	MaxPenalty time.Duration // 5 s
}

func (l Limits) withDefaults() Limits {
	duration := func(d *time.Duration, preset time.Duration) {
		if *d <= 0 {
			*d = preset
		}
	}
	count := func(n *int, preset int) {
		if *n <= 0 {
			*n = preset
		}
	}
	duration(&l.Handshake, 20*time.Second)
	duration(&l.Stall, 30*time.Second)
	duration(&l.KeepAlive, 15*time.Second)
	duration(&l.Stop, 4*time.Second)
	duration(&l.Farewell, 2*time.Second)
	duration(&l.Prompt, 60*time.Second)
	count(&l.Connections, 4096)
	count(&l.ConnectionsPerAddress, 1024)
	count(&l.Waiting, 1024)
	count(&l.WaitingPerAddress, 256)
	count(&l.Channels, 64)
	count(&l.Pickers, 8)
	count(&l.Forgiven, 5)
	duration(&l.Penalty, 250*time.Millisecond)
	duration(&l.MaxPenalty, 5*time.Second)
	return l
}

// check is nil where c has all that a server needs.
func (c Config) check() error {
	switch {
	case len(c.Signers) == 0:
		return errors.New("sshd: no host key")
	case c.Log == nil:
		return errors.New("sshd: no log")
	case c.Login == nil:
		return errors.New("sshd: no login")
	case c.Service == nil:
		return errors.New("sshd: no service")
	case c.Pick == nil:
		return errors.New("sshd: no picker")
	case c.Command == nil:
		return errors.New("sshd: no commands")
	}
	return nil
}

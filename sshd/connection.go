package sshd

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
)

// errGone ends what belongs to a client that is no longer there. Nothing can be said to it.
var errGone = errors.New("the client is gone")

// connection is one client's connection, from accept to close.
type connection struct {
	srv     *Server
	net     *netConn
	slot    *slot
	address string // what limits count by
	log     *slog.Logger

	// ctx ends with the connection. Its cause is a *hitchpost.Error where the server ends it and can say why.
	ctx    context.Context //nolint:containedctx // see above
	cancel context.CancelCauseFunc

	// These belong to the goroutine of the handshake.
	preAuth  gossh.ServerPreAuthConn
	refusals int
	tried    bool
	tries    tries

	front    ssh.Context // holds the SSH connection once the handshake is over
	identity atomic.Pointer[identity]
	channels atomic.Int32
	pickers  atomic.Int32 // open now
	probing  atomic.Bool
	sessions group // the channels
	others   group // all other goroutines
}

// serve runs the connection to its end. A panic in it ends this connection only.
func (c *connection) serve() {
	defer c.others.wait()
	defer c.sessions.wait()
	defer c.cancel(errGone)
	defer c.net.Close()
	defer guard(c.log)
	context.AfterFunc(c.ctx, c.end)
	c.frontDoor().HandleConn(c.net)
	if c.identity.Load() == nil && c.tried {
		c.srv.penalties.failed(c.address)
		c.tellRefused(&c.tries, "")
	}
}

// frontDoor is the gliderlabs/ssh server for this connection alone: every callback is bound to the connection, so that
// nothing has to be fetched from a context.
func (c *connection) frontDoor() *ssh.Server {
	d := &ssh.Server{
		Version: versionLine(c.srv.cfg.Version),
		// Without an authentication handler gliderlabs/ssh lets everybody in.
		PublicKeyHandler: c.offered,
		ConnCallback: func(ctx ssh.Context, conn net.Conn) net.Conn {
			c.front = ctx
			return conn
		},
		ServerConfigCallback: func(ssh.Context) *gossh.ServerConfig { return c.config() },
		ConnectionFailedCallback: func(_ net.Conn, err error) {
			level := slog.LevelDebug // somebody who only looked whether a port is open
			if c.tried {
				level = slog.LevelInfo
			}
			c.tries.end = err
			c.log.Log(c.ctx, level, "login failed", "err", err)
		},
		ChannelHandlers: map[string]ssh.ChannelHandler{"session": c.open, "default": c.refuse},
		RequestHandlers: map[string]ssh.RequestHandler{"default": c.global},
	}
	for _, s := range c.srv.signers {
		d.HostSigners = append(d.HostSigners, s)
	}
	return d
}

func (c *connection) config() *gossh.ServerConfig {
	return &gossh.ServerConfig{
		Config:                    c.srv.crypto,
		PublicKeyAuthAlgorithms:   signatureAlgorithms(),
		MaxAuthTries:              maxAuthTries,
		VerifiedPublicKeyCallback: c.signed,
		PreAuthConnCallback:       func(p gossh.ServerPreAuthConn) { c.preAuth = p },
		AuthLogCallback: func(_ gossh.ConnMetadata, method string, err error) {
			c.tried = c.tried || method != "none"
			c.tries.attempted(method, err)
		},
	}
}

// entered is called once, when a key has signed.
func (c *connection) entered(id *identity) {
	c.identity.Store(id)
	c.net.loggedIn()
	c.log = c.log.With("actor", id.actor.Name)
	c.log.Info("logged in", "fingerprint", id.actor.Fingerprint, "login", id.actor.Login, "good", id.refusal == nil)
	if c.srv.cfg.Entered != nil && id.refusal == nil {
		c.srv.cfg.Entered(id.actor)
	}
	if id.refusal != nil {
		var one tries
		one.key(id.public, id.refusal)
		c.tellRefused(&one, id.actor.Name)
	}
	if c.others.enter() {
		go func() {
			defer c.others.leave()
			defer guard(c.log)
			c.keepAlive()
		}()
	}
	if at := id.key.ExpiresAt; !at.IsZero() && id.refusal == nil {
		expire := time.AfterFunc(time.Until(at), c.recheck)
		context.AfterFunc(c.ctx, func() { expire.Stop() })
	}
}

// recheck ends the connection where its key is no longer good. It may run in a timer's own goroutine.
func (c *connection) recheck() {
	defer guard(c.srv.cfg.Log)
	id := c.identity.Load()
	if id == nil || id.refusal != nil {
		return
	}
	now, err := c.decide(id.public, id.actor.Login)
	switch {
	case err == nil && now.refusal == nil:
	case err == nil:
		c.cancel(now.refusal)
	case hitchpost.KindOf(err) == hitchpost.UnavailableError:
	default:
		c.cancel(keyGone())
	}
}

// end closes the connection: at once where nothing can be said to the client, else when its sessions have said why it
// ends, or when the time for that is over. It runs once ctx has ended, in a goroutine of its own.
func (c *connection) end() {
	defer guard(c.srv.cfg.Log)
	if !c.others.enter() {
		return
	}
	defer c.others.leave()
	if errors.Is(context.Cause(c.ctx), errGone) || c.identity.Load() == nil {
		c.net.Close()
		return
	}
	late := time.AfterFunc(c.srv.cfg.Limits.Stop, func() { c.net.Close() })
	defer late.Stop()
	c.sessions.wait()
	c.net.Close()
}

// wait passes the time, or less where the connection ends.
func (c *connection) wait(d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-c.ctx.Done():
	}
}

// refuse answers every channel that is not a session.
func (c *connection) refuse(_ *ssh.Server, _ *gossh.ServerConn, ch gossh.NewChannel, _ ssh.Context) {
	defer guard(c.log)
	switch ch.ChannelType() {
	case "direct-tcpip", "direct-streamlocal@openssh.com", "forwarded-tcpip", "x11", "auth-agent@openssh.com",
		"tun@openssh.com":
		_ = ch.Reject(gossh.Prohibited, noForwarding)
	default:
		_ = ch.Reject(gossh.UnknownChannelType, noSuchChannel)
	}
}

// global answers requests that are not of a channel: the client's own keepalives with success, all others, such as
// those for forwarding, with failure.
func (c *connection) global(_ ssh.Context, _ *ssh.Server, req *gossh.Request) (bool, []byte) {
	return req.Type == "keepalive@openssh.com", nil
}

// open runs one session channel.
func (c *connection) open(_ *ssh.Server, conn *gossh.ServerConn, ch gossh.NewChannel, _ ssh.Context) {
	defer guard(c.log)
	id := identityOf(conn.Permissions)
	if id == nil {
		_ = ch.Reject(gossh.Prohibited, noIdentity)
		return
	}
	if !c.sessions.enter() {
		_ = ch.Reject(gossh.ConnectionFailed, errGone.Error())
		return
	}
	defer c.sessions.leave()
	defer c.channels.Add(-1)
	if c.channels.Add(1) > int32(c.srv.cfg.Limits.Channels) {
		_ = ch.Reject(gossh.ResourceShortage, tooManyChannels)
		return
	}
	channel, requests, err := ch.Accept()
	if err != nil {
		return
	}
	newSession(c, conn, id, channel).serve(requests)
}

// versionLine is what the server calls itself, without what RFC 4253 section 4.2 forbids there.
func versionLine(version string) string {
	name := []byte("Hitchpost")
	for i := range len(version) {
		if i == 0 {
			name = append(name, '_')
		}
		if b := version[i]; b > ' ' && b < 0x7f && b != '-' {
			name = append(name, b)
		}
	}
	return string(name)
}

// guard keeps a panic in one goroutine from ending the process. To be deferred.
func guard(log *slog.Logger) {
	if r := recover(); r != nil {
		log.Error("panic", "err", r, "stack", string(debug.Stack()))
	}
}

package sshd

import (
	"context"
	"encoding/hex"
	"net"
	"sync"

	charm "charm.land/ssh"
)

// sessionContext is the session's context as wish middleware wants to see it. Nothing of ours is kept in it.
type sessionContext struct {
	context.Context //nolint:containedctx // this is one
	sync.Mutex
	s *session

	mu     sync.Mutex
	values map[any]any
}

var _ charm.Context = (*sessionContext)(nil)

func newSessionContext(s *session) *sessionContext { return &sessionContext{Context: s.ctx, s: s} }

func (c *sessionContext) User() string          { return c.s.User() }
func (c *sessionContext) SessionID() string     { return hex.EncodeToString(c.s.ssh.SessionID()) }
func (c *sessionContext) ClientVersion() string { return string(c.s.ssh.ClientVersion()) }
func (c *sessionContext) ServerVersion() string { return string(c.s.ssh.ServerVersion()) }
func (c *sessionContext) RemoteAddr() net.Addr  { return c.s.RemoteAddr() }
func (c *sessionContext) LocalAddr() net.Addr   { return c.s.LocalAddr() }
func (c *sessionContext) Permissions() *charm.Permissions {
	p := c.s.Permissions()
	return &p
}

// SetValue keeps a value for other middleware of the same session.
func (c *sessionContext) SetValue(key, value any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.values == nil {
		c.values = map[any]any{}
	}
	c.values[key] = value
}

// Value is what SetValue kept under key, or what the session is known by under the keys of charm.land/ssh.
func (c *sessionContext) Value(key any) any {
	c.mu.Lock()
	v, ok := c.values[key]
	c.mu.Unlock()
	switch {
	case ok:
		return v
	case key == charm.ContextKeyUser:
		return c.User()
	case key == charm.ContextKeySessionID:
		return c.SessionID()
	case key == charm.ContextKeyClientVersion:
		return c.ClientVersion()
	case key == charm.ContextKeyServerVersion:
		return c.ServerVersion()
	case key == charm.ContextKeyRemoteAddr:
		return c.RemoteAddr()
	case key == charm.ContextKeyLocalAddr:
		return c.LocalAddr()
	case key == charm.ContextKeyPublicKey:
		return c.s.PublicKey()
	case key == charm.ContextKeySession:
		return c.s
	}
	return c.Context.Value(key)
}

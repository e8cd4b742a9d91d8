package sshd

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"time"

	"github.com/gliderlabs/ssh"
	gossh "golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost"
)

// minRSABits is the shortest RSA key that is let in. x/crypto takes 1,024 bits.
const minRSABits = 2048

// noTouchRequired is the extension by which x/crypto lets a security key sign without a touch.
const noTouchRequired = "no-touch-required"

// identity is who a connection is. It is made once, from the key that signed, and travels in the connection's
// permissions.
type identity struct {
	actor   hitchpost.Actor
	key     hitchpost.Key
	public  gossh.PublicKey
	refusal error // of kind RevokedError: let in to be told so, and for nothing else
}

// identityKey is where the permissions hold the identity.
type identityKey struct{}

// identityOf is the identity in p, or nil.
func identityOf(p *gossh.Permissions) *identity {
	if p == nil {
		return nil
	}
	id, _ := p.ExtraData[identityKey{}].(*identity)
	return id
}

// weakness tells why a key is refused whoever owns it; nil for a good one.
func weakness(key gossh.PublicKey) error {
	switch key.Type() {
	case gossh.KeyAlgoED25519, gossh.KeyAlgoSKED25519, gossh.KeyAlgoSKECDSA256,
		gossh.KeyAlgoECDSA256, gossh.KeyAlgoECDSA384, gossh.KeyAlgoECDSA521:
		return nil
	case gossh.KeyAlgoRSA:
		crypto, ok := key.(gossh.CryptoPublicKey)
		if !ok {
			return errors.New("an RSA key of unknown size is not accepted")
		}
		public, ok := crypto.CryptoPublicKey().(*rsa.PublicKey)
		if !ok || public.N.BitLen() < minRSABits {
			return fmt.Errorf("an RSA key of less than %d bits is not accepted", minRSABits)
		}
		return nil
	}
	return fmt.Errorf("a key of type %s is not accepted", key.Type())
}

// decide asks who may come in with key. The identity is nil where nobody may.
func (c *connection) decide(key gossh.PublicKey, user string) (*identity, error) {
	if err := weakness(key); err != nil {
		return nil, err
	}
	actor, known, err := c.srv.cfg.Login(c.ctx, key, user, c.net.RemoteAddr().String())
	if err == nil {
		err = known.Valid(time.Now())
	}
	if err != nil && hitchpost.KindOf(err) != hitchpost.RevokedError {
		return nil, err
	}
	return &identity{actor: actor, key: known, public: key, refusal: err}, nil
}

// offered answers the question whether key would do. Nothing it finds out is kept but whether the key may sign without
// a touch, in permissions that are made anew for each key: the library hands these to the check of the signature of
// the same key, and gliderlabs/ssh would share one value between all keys of the connection.
func (c *connection) offered(ctx ssh.Context, key ssh.PublicKey) bool {
	c.tried = true
	fresh := &gossh.Permissions{}
	ctx.SetValue(ssh.ContextKeyPermissions, &ssh.Permissions{Permissions: fresh})
	id, err := c.decide(key, c.user())
	if err != nil {
		c.tries.key(key, err)
		c.refused(key, err)
		return false
	}
	c.tries.key(key, id.refusal)
	if id.key.TouchOptional {
		fresh.Extensions = map[string]string{noTouchRequired: ""}
	}
	return true
}

// refused notes a key that does not let anybody in, and makes a penalised address wait for the answer.
func (c *connection) refused(key gossh.PublicKey, err error) {
	c.refusals++
	c.log.Debug("key refused", "fingerprint", gossh.FingerprintSHA256(key), "err", err)
	if c.refusals == 1 {
		c.wait(c.srv.penalties.delay(c.address))
	}
	if c.refusals == manyKeys && c.preAuth != nil {
		_ = c.preAuth.SendAuthBanner(tooManyKeys())
	}
}

// manyKeys is after how many refused keys a client is told how to offer the right one only.
const manyKeys = 2*maxAuthTries - 4

// signed makes the identity of the connection from the key that signed and from nothing else.
func (c *connection) signed(conn gossh.ConnMetadata, key gossh.PublicKey, _ *gossh.Permissions, _ string) (
	*gossh.Permissions, error) {
	id, err := c.decide(key, conn.User())
	if err != nil {
		return nil, err
	}
	if !c.srv.slots.loggedIn(c.slot) {
		return nil, errors.New("the connection was dropped for a newer one")
	}
	c.entered(id)
	return &gossh.Permissions{ExtraData: map[any]any{identityKey{}: id}}, nil
}

// user is the name that the client gives in its present attempt to log in. The one in the context of gliderlabs/ssh
// stays what it was in the first.
func (c *connection) user() string {
	if c.preAuth == nil {
		return ""
	}
	return c.preAuth.User()
}

package hitchpost

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Role is what an actor may do.
type Role string

// The roles, from most to least.
const (
	Admin    Role = "admin"    // everything, keys included
	Operator Role = "operator" // everything with sessions
	Viewer   Role = "viewer"   // looks, attaches read-only, changes nothing
)

// Permission is a kind of act that a role may or may not do.
type Permission string

// The permissions.
const (
	Look       Permission = "look"       // list, show, capture, attach read-only
	Drive      Permission = "drive"      // start, type into, stop, close, rename sessions
	Administer Permission = "administer" // add and revoke keys
)

// Actor is whoever acts, known by a key. It is a value made at login and never changed after.
type Actor struct {
	Name        string
	Role        Role
	Fingerprint string // SHA256:… of the key that signed
	KeyType     string // such as ssh-ed25519
	Login       string // user name that the client gave
	Remote      string // address of the client, host:port
}

// May reports whether the actor's role has p.
func (a Actor) May(p Permission) bool {
	switch a.Role {
	case Admin:
		return true
	case Operator:
		return p == Look || p == Drive
	case Viewer:
		return p == Look
	}
	return false
}

// Require is nil where the actor's role has p, and an error of kind DeniedError elsewhere.
func (a Actor) Require(p Permission) error {
	if a.May(p) {
		return nil
	}
	return Errorf(DeniedError, "your key has the role %s, which may not do that", a.Role).
		Hinted("ask an admin for a key with another role")
}

// maxActor is the longest name of an actor, in characters.
const maxActor = 64

// CheckActor is nil for a name that an actor may have: letters, digits and . _ - + @, at most 64 of them. The error is
// of kind UsageError.
func CheckActor(name string) error {
	bad := func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-+@", r)
	}
	if name == "" || utf8.RuneCountInString(name) > maxActor || strings.ContainsFunc(name, bad) {
		return Errorf(UsageError, "the actor's name is empty, too long or has characters that names do not have").For("actor").
			Hinted("use up to %d letters, digits and . _ - + @", maxActor)
	}
	return nil
}

// Key is a public key that lets an actor in.
type Key struct {
	Fingerprint   string // SHA256:…
	AuthorizedKey string // one line in authorized_keys format, type and base64 only
	Type          string
	Comment       string
	Actor         string
	Role          Role
	TouchOptional bool // security key that may sign without a touch (no-touch-required)
	CreatedAt     time.Time
	ExpiresAt     time.Time // zero: never
	RevokedAt     time.Time // zero: good
	LastUsedAt    time.Time
	LastSession   string // id of the session this key attached to last
}

// Valid is nil while the key may be used at now, and an error of kind RevokedError after that.
func (k Key) Valid(now time.Time) error {
	switch {
	case !k.RevokedAt.IsZero():
		return Errorf(RevokedError, "this key was revoked").Hinted("log in with another key")
	case !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt):
		return Errorf(RevokedError, "this key has expired").Hinted("log in with another key")
	}
	return nil
}

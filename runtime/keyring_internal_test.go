package runtime

import (
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// A reading of the keys that was overtaken by one that began later lets nobody in again.
func TestOlderReadingOfKeysIsDropped(t *testing.T) {
	t.Parallel()
	k := newKeyring()
	key := hitchpost.Key{Fingerprint: "SHA256:x", Role: hitchpost.Admin}
	before, after := k.ask(), k.ask()
	revoked := key
	revoked.RevokedAt = time.Now()
	k.replace(after, []hitchpost.Key{revoked})
	k.replace(before, []hitchpost.Key{key})
	if _, err := k.find("SHA256:x", time.Now()); hitchpost.KindOf(err) != hitchpost.RevokedError {
		t.Errorf("%v", err)
	}
	k.replace(k.ask(), []hitchpost.Key{key})
	if _, err := k.find("SHA256:x", time.Now()); err != nil {
		t.Errorf("added again: %v", err)
	}
}

// The last good key of an admin is not revoked by somebody who is in, alone or with others.
func TestLastAdmins(t *testing.T) {
	t.Parallel()
	now := time.Now()
	k := newKeyring()
	k.replace(k.ask(), []hitchpost.Key{
		{Fingerprint: "1", Actor: "ann", Role: hitchpost.Admin},
		{Fingerprint: "2", Actor: "ann", Role: hitchpost.Admin},
		{Fingerprint: "3", Actor: "bob", Role: hitchpost.Operator},
		{Fingerprint: "4", Actor: "eve", Role: hitchpost.Admin, RevokedAt: now},
	})
	for name, want := range map[string]bool{"ann": true, "bob": false, "eve": false, "nobody": false} {
		if got := k.lastAdmins(func(k hitchpost.Key) bool { return k.Actor == name }, now); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if k.lastAdmins(func(k hitchpost.Key) bool { return k.Fingerprint == "1" }, now) {
		t.Error("another key of an admin is left")
	}
}

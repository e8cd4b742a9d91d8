package runtime

import (
	"sync"
	"time"

	"github.com/hitchpost/hitchpost"
)

// keyring is the memory of who may come in. A login is answered from it alone, so that neither a slow nor an absent
// database holds up or shuts out a person whose key was known when it was last read.
type keyring struct {
	mu   sync.RWMutex
	keys map[string]hitchpost.Key // by fingerprint
	news chan struct{}            // holds one: the keys may have changed
	last map[string]string        // id of the session a key attached to last, ahead of the store
}

func newKeyring() *keyring {
	return &keyring{keys: map[string]hitchpost.Key{}, last: map[string]string{}, news: make(chan struct{}, 1)}
}

func (k *keyring) replace(keys []hitchpost.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = make(map[string]hitchpost.Key, len(keys))
	for _, key := range keys {
		k.keys[key.Fingerprint] = key
	}
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// find returns the key with this fingerprint. It fails with kind DeniedError for an unknown one and RevokedError,
// together with the key, for one that is no longer good.
func (k *keyring) find(fingerprint string, now time.Time) (hitchpost.Key, error) {
	k.mu.RLock()
	defer k.mu.RUnlock()
	key, ok := k.keys[fingerprint]
	if !ok {
		return hitchpost.Key{}, hitchpost.Errorf(hitchpost.DeniedError, "this key is not known here").
			Hinted("ask an admin to let it in")
	}
	return key, key.Valid(now)
}

// lastAdmin reports whether a key is the only good one of an admin.
func (k *keyring) lastAdmin(fingerprint string, now time.Time) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	good := func(key hitchpost.Key) bool { return key.Role == hitchpost.Admin && key.Valid(now) == nil }
	for f, key := range k.keys {
		if f != fingerprint && good(key) {
			return false
		}
	}
	return good(k.keys[fingerprint])
}

// used notes the session that a key attached to.
func (k *keyring) used(fingerprint, session string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last[fingerprint] = session
}

// lastSession is the session a key attached to last; empty when it never did.
func (k *keyring) lastSession(fingerprint string) string {
	k.mu.RLock()
	defer k.mu.RUnlock()
	if id := k.last[fingerprint]; id != "" {
		return id
	}
	return k.keys[fingerprint].LastSession
}

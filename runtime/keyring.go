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
	asks int                      // readings of the store begun
	read int                      // the latest of them that was taken
	last map[string]string        // id of the session a key attached to last, ahead of the store
}

func newKeyring() *keyring {
	return &keyring{keys: map[string]hitchpost.Key{}, last: map[string]string{}, news: make(chan struct{}, 1)}
}

// ask is the number of a reading of the store that is about to begin, for replace.
func (k *keyring) ask() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asks++
	return k.asks
}

// replace takes the keys that a reading gave, unless one that began later was taken already: the older one may not know
// of a key that was revoked in between.
func (k *keyring) replace(reading int, keys []hitchpost.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if reading < k.read {
		return
	}
	k.read = reading
	k.keys = make(map[string]hitchpost.Key, len(keys))
	for _, key := range keys {
		k.keys[key.Fingerprint] = key
	}
	k.tell()
}

// put takes keys as a write to the store just left them. A reading of the store that is under way may not know of that,
// and is dropped; the notice of the write makes another one.
func (k *keyring) put(keys ...hitchpost.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asks++
	k.read = k.asks
	for _, key := range keys {
		k.keys[key.Fingerprint] = key
	}
	k.tell()
}

// tell has whoever is in looked at; the lock is held.
func (k *keyring) tell() {
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

// lastAdmins reports whether there are good keys of admins now and would be none without the chosen ones.
func (k *keyring) lastAdmins(chosen func(hitchpost.Key) bool, now time.Time) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	last := false
	for _, key := range k.keys {
		if key.Role != hitchpost.Admin || key.Valid(now) != nil {
			continue
		}
		if !chosen(key) {
			return false
		}
		last = true
	}
	return last
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

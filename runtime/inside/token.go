package inside

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hitchpost/hitchpost/runtime/durable"
)

// What the environment of a session tells the programs in it, beside the session's id.
const (
	SocketVariable = "HITCHPOST_SOCKET" // path of the service's socket
	TokenVariable  = "HITCHPOST_TOKEN"  // the session's token
)

// Key is what the tokens of all sessions follow from, so that none has to be kept. It never leaves the service.
type Key []byte

// keySize is the length of a key in bytes: that of the hash.
const keySize = sha256.Size

// OpenKey reads the key in the file at path, and makes it there where there is none.
func OpenKey(path string) (Key, error) {
	key, err := durable.Read(path, 2*keySize)
	switch {
	case err == nil && len(key) == keySize:
		return key, nil
	case err == nil:
		return nil, fmt.Errorf("%s is not a key: remove it, and sessions get new tokens when they are restarted", path)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	key = make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails
	return key, durable.Replace(path, key)
}

// Token proves that a call is made from inside the session with that id.
func (k Key) Token(session string) string {
	mac := hmac.New(sha256.New, k)
	mac.Write([]byte(session))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// proves reports whether token is that of the session, in a time that tells nothing about it.
func (k Key) proves(session, token string) bool {
	return len(k) == keySize && session != "" && hmac.Equal([]byte(token), []byte(k.Token(session)))
}

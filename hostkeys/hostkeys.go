package hostkeys

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/crypto/ssh"
)

// Key is one host key.
type Key struct {
	Path        string // of the private key
	Type        string // such as ssh-ed25519
	Fingerprint string // SHA256:…
	Signer      ssh.Signer
	Made        bool // by this call of Ensure
}

// names are the files of the keys that are made where they are missing, the preferred first. Clients keep the key of
// the first type that they and the server have in common.
func names() []string { return []string{"ssh_host_ed25519_key", "ssh_host_rsa_key"} }

// Ensure loads the host keys in dir and makes those that are missing, dir included. Further keys with names like
// ssh_host_ecdsa_key, put there by hand, are served too. An existing key that cannot be used is an error that names
// the file and what to do; it is never replaced. The public halves are written beside them, for people. Several
// processes may call it at once: they end up with the same keys.
func Ensure(dir string) ([]Key, error) {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("host keys: %w", err)
	}
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	made := map[string]bool{}
	for _, name := range names() {
		path := filepath.Join(dir, name)
		if _, err := os.Lstat(path); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("host key: %w", err)
		}
		if err := create(path); err != nil {
			return nil, fmt.Errorf("host key %s: %w", path, err)
		}
		made[path] = true
	}
	keys, err := Load(dir)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		if err := publish(k); err != nil {
			return nil, fmt.Errorf("host key %s: %w", k.Path, err)
		}
		keys[i].Made = made[k.Path]
	}
	return keys, nil
}

// Load loads the host keys in dir. It makes and changes nothing.
func Load(dir string) ([]Key, error) {
	if err := checkDir(dir); err != nil {
		return nil, err
	}
	paths, err := keyFiles(dir)
	if err != nil {
		return nil, err
	}
	var keys []Key
	for _, path := range paths {
		k, err := load(path)
		if err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(keys, func(o Key) bool { return o.Type == k.Type }); i >= 0 {
			return nil, fmt.Errorf("host keys %s and %s are of one type: move one of them away", keys[i].Path, path)
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("host keys: there are none in %s", dir)
	}
	return keys, nil
}

// Signers is what a server needs of the keys, in the same order.
func Signers(keys []Key) []ssh.Signer {
	var s []ssh.Signer
	for _, k := range keys {
		s = append(s, k.Signer)
	}
	return s
}

// keyFiles lists the private keys in dir, those that are always there first.
func keyFiles(dir string) ([]string, error) {
	found, err := fs.Glob(os.DirFS(dir), "ssh_host_*_key")
	if err != nil {
		return nil, fmt.Errorf("host keys: %w", err)
	}
	rank := func(name string) int {
		if i := slices.Index(names(), name); i >= 0 {
			return i
		}
		return len(names())
	}
	slices.SortStableFunc(found, func(a, b string) int { return rank(a) - rank(b) })
	for i, name := range found {
		found[i] = filepath.Join(dir, name)
	}
	return found, nil
}

package hostkeys

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/crypto/ssh"
)

const (
	maxFile    = 64 << 10 // bytes of a key file
	minRSABits = 2048
)

// load reads one private key, and refuses one that others could have read or that is no key.
func load(path string) (Key, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe of that name would block it
	if err != nil {
		return Key{}, fmt.Errorf("host key: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Key{}, fmt.Errorf("host key: %w", err)
	}
	if !info.Mode().IsRegular() {
		return Key{}, fmt.Errorf("host key %s is not a regular file: put the key there or move it away", path)
	}
	if err := private(path, "host key", info, 0o600); err != nil {
		return Key{}, err
	}
	pem, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return Key{}, fmt.Errorf("host key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(pem)
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return Key{}, fmt.Errorf("host key %s has a passphrase, which nobody could type: take it off with "+
			"ssh-keygen -p -f %s", path, path)
	case err != nil:
		return Key{}, fmt.Errorf("host key %s is damaged (%w): restore it from a backup, or move it away for a new "+
			"one, of which every client will warn", path, err)
	}
	return made(path, signer)
}

// made is the Key for a signer, unless that is too weak.
func made(path string, signer ssh.Signer) (Key, error) {
	public := signer.PublicKey()
	if c, ok := public.(ssh.CryptoPublicKey); ok {
		if r, ok := c.CryptoPublicKey().(*rsa.PublicKey); ok && r.N.BitLen() < minRSABits {
			return Key{}, fmt.Errorf("host key %s is an RSA key of %d bits, which is too weak: move it away for a new one",
				path, r.N.BitLen())
		}
	}
	return Key{Path: path, Type: public.Type(), Fingerprint: ssh.FingerprintSHA256(public), Signer: signer}, nil
}

// checkDir refuses a directory that others could change or look into.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("host keys: %w", err)
	}
	if !info.IsDir() {
		return fmt.Errorf("host keys: %s is not a directory", dir)
	}
	return private(dir, "host key directory", info, 0o700)
}

// private refuses what others than this account (and root) own or may use.
func private(path, what string, info os.FileInfo, want os.FileMode) error {
	if loose := info.Mode().Perm() & 0o077; loose != 0 {
		return fmt.Errorf("%s %s is open to others (mode %04o): chmod %03o %s, and make a new key if others may have "+
			"read it", what, path, info.Mode().Perm(), want, path)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s %s belongs to another account (uid %d): chown it to uid %d", what, path, st.Uid,
			os.Geteuid())
	}
	return nil
}

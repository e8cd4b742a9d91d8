package hostkeys

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"
)

// rsaBits is as strong as 128 bits of a cipher (NIST SP 800-57 part 1, table 2).
const rsaBits = 3072

// create makes the private key at path, unless another process does so first.
func create(path string) error {
	private, err := generate(filepath.Base(path))
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "hitchpost host key")
	if err != nil {
		return err
	}
	temp, err := write(filepath.Dir(path), pem.EncodeToMemory(block), 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	// A link, unlike a rename, does not replace a key that has appeared meanwhile.
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func generate(name string) (crypto.PrivateKey, error) {
	if strings.Contains(name, "_rsa_") {
		return rsa.GenerateKey(rand.Reader, rsaBits)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return key, err
}

// publish writes the public half beside the private one, for people; nothing reads it.
func publish(k Key) error {
	line := ssh.MarshalAuthorizedKey(k.Signer.PublicKey())
	path := k.Path + ".pub"
	if old, err := os.ReadFile(path); err == nil && bytes.HasPrefix(old, bytes.TrimSpace(line)) {
		return nil
	}
	temp, err := write(filepath.Dir(path), line, 0o644)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	return os.Rename(temp, path)
}

// write writes data to a new file in dir, down to the disk, and returns its name.
func write(dir string, data []byte, mode os.FileMode) (string, error) {
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// syncDir makes names in dir as lasting as what they stand for.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

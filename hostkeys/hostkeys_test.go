package hostkeys_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/hitchpost/hitchpost/hostkeys"
)

func ensure(t *testing.T, dir string) []hostkeys.Key {
	t.Helper()
	keys, err := hostkeys.Ensure(dir)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func fingerprints(keys []hostkeys.Key) []string {
	var out []string
	for _, k := range keys {
		out = append(out, k.Type+" "+k.Fingerprint)
	}
	return out
}

func TestKeysAreMadeOnceAndStay(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	first := ensure(t, dir)
	if len(first) != 2 || first[0].Type != ssh.KeyAlgoED25519 || first[1].Type != ssh.KeyAlgoRSA {
		t.Fatalf("want an ed25519 and then an RSA key, got %v", fingerprints(first))
	}
	if again := ensure(t, dir); !slices.Equal(fingerprints(first), fingerprints(again)) {
		t.Errorf("fingerprints changed from %v to %v", fingerprints(first), fingerprints(again))
	}
	for path, want := range map[string]os.FileMode{
		dir: 0o700, first[0].Path: 0o600, first[1].Path: 0o600,
		first[0].Path + ".pub": 0o644, first[1].Path + ".pub": 0o644,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %04o, want %04o", path, info.Mode().Perm(), want)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 4 {
		t.Errorf("left-overs beside the keys: %v", files)
	}
}

func TestOpenSSHReadsTheKeys(t *testing.T) {
	t.Parallel()
	keys := ensure(t, filepath.Join(t.TempDir(), "keys"))
	for _, k := range keys {
		out, err := exec.Command("ssh-keygen", "-l", "-f", k.Path).CombinedOutput()
		if err != nil {
			t.Fatalf("ssh-keygen (of openssh-client): %v: %s", err, out)
		}
		if !strings.Contains(string(out), k.Fingerprint) {
			t.Errorf("ssh-keygen sees %s, want %s", out, k.Fingerprint)
		}
		if k.Type == ssh.KeyAlgoRSA && !strings.HasPrefix(string(out), "3072 ") {
			t.Errorf("want 3072 bits, got %s", out)
		}
	}
}

func TestManyProcessesEndUpWithTheSameKeys(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	results := make([][]string, 4)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() {
			keys, err := hostkeys.Ensure(dir)
			if err != nil {
				t.Error(err)
			}
			results[i] = fingerprints(keys)
		})
	}
	all.Wait()
	for _, r := range results[1:] {
		if !slices.Equal(r, results[0]) {
			t.Errorf("got %v and %v", results[0], r)
		}
	}
}

func TestBadKeysStopTheStart(t *testing.T) {
	t.Parallel()
	good := ensure(t, filepath.Join(t.TempDir(), "keys"))
	pem, err := os.ReadFile(good[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	weak := filepath.Join(t.TempDir(), "weak")
	locked := filepath.Join(t.TempDir(), "locked")
	keygen(t, "-t", "rsa", "-b", "1024", "-N", "", "-f", weak)
	keygen(t, "-t", "ed25519", "-N", "secret", "-f", locked)
	const name = "ssh_host_ed25519_key"
	tests := map[string]struct {
		spoil func(path string) error
		says  string
	}{
		"loose mode":    {func(p string) error { return os.Chmod(p, 0o640) }, "chmod 600"},
		"half written":  {func(p string) error { return os.WriteFile(p, pem[:len(pem)/2], 0o600) }, "damaged"},
		"empty":         {func(p string) error { return os.WriteFile(p, nil, 0o600) }, "damaged"},
		"a directory":   {func(p string) error { os.Remove(p); return os.Mkdir(p, 0o700) }, "not a regular file"},
		"dangling link": {func(p string) error { os.Remove(p); return os.Symlink("gone", p) }, "no such file"},
		"passphrase":    {func(p string) error { return os.Rename(locked, p) }, "passphrase"},
		"weak RSA":      {func(p string) error { return os.Rename(weak, p) }, "too weak"},
		"same type":     {func(p string) error { return os.WriteFile(filepath.Dir(p)+"/ssh_host_other_key", pem, 0o600) }, "one type"},
		"a pipe": {func(p string) error { return syscall.Mkfifo(filepath.Dir(p)+"/ssh_host_pipe_key", 0o600) },
			"not a regular file"},
		"open directory": {func(p string) error { return os.Chmod(filepath.Dir(p), 0o755) }, "chmod 700"},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, name)
			for _, k := range good {
				text, err := os.ReadFile(k.Path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, filepath.Base(k.Path)), text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := test.spoil(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.ReadFile(path)
			_, err := hostkeys.Ensure(dir)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Fatalf("want an error that says %q, got %v", test.says, err)
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the bad key was replaced")
			}
		})
	}
}

func TestAKeyPutThereByHandIsServedToo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "key[s]*")
	ensure(t, dir)
	keygen(t, "-t", "ecdsa", "-N", "", "-f", filepath.Join(dir, "ssh_host_ecdsa_key"))
	keys := ensure(t, dir)
	if len(keys) != 3 || keys[2].Type != ssh.KeyAlgoECDSA256 {
		t.Errorf("got %v", fingerprints(keys))
	}
}

func keygen(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("ssh-keygen", append([]string{"-q"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen (of openssh-client): %v: %s", err, out)
	}
}

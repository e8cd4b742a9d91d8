package local

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hitchpost/hitchpost"
)

func TestPick(t *testing.T) {
	t.Parallel()
	found := []Binaries{{"/11", 11, "11.22"}, {"/15a", 15, "15.4"}, {"/15b", 15, "15.12"}, {"/16", 16, "16.1"},
		{"/18", 18, "18beta1"}}
	for major, want := range map[int]string{0: "/18", 15: "/15b", 16: "/16", 11: "/11", 14: ""} {
		if got, ok := pick(found, major); got.Dir != want || ok != (want != "") {
			t.Errorf("major %d: %v, want %s", major, got, want)
		}
	}
	if got, ok := pick(found[:1], 0); ok {
		t.Errorf("%v is too old", got)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	b, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if b.Major < oldestMajor || !strings.HasPrefix(b.Version, b.Version[:2]) {
		t.Errorf("%+v", b)
	}
	if _, err := os.Stat(filepath.Join(b.Dir, "initdb")); err != nil {
		t.Error(err)
	}
}

func TestAncestors(t *testing.T) {
	t.Parallel()
	if got := strings.Join(ancestors("/var/lib/x"), " "); got != "/ /var /var/lib /var/lib/x" {
		t.Error(got)
	}
}

func TestSocketPathFits(t *testing.T) {
	t.Parallel()
	room := socketPathLimit() - len("/"+socketFile)
	for dir, want := range map[string]bool{
		strings.Repeat("x", room): true, strings.Repeat("x", room+1): false, "/a,b": false, "/a\nb": false, "/tmp": true,
	} {
		if fits(dir) != want {
			t.Errorf("%q of %d bytes: %v", dir, len(dir), !want)
		}
	}
}

// The URL leads to the socket whatever the data directory is called.
func TestURLOfADirectoryWithBlanks(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"/a b/c  d", "/a+b", "/a%20b", "/a&b=c;d#e?f", "/é'\"$(x)\\", "/a\tb:c@d/[e]"} {
		c := &Cluster{socket: dir}
		got, err := pgconn.ParseConfig(c.url("hitchpost"))
		if err != nil || got.Host != dir || got.Port != port || got.User != role || got.Database != "hitchpost" {
			t.Errorf("%q: %+v, %v", dir, got, err)
		}
	}
}

// A directory that others may have laid out is not used.
func TestOwnRefusesTraps(t *testing.T) {
	t.Parallel()
	me := account{uid: os.Geteuid(), gid: os.Getegid()}
	dir := t.TempDir()
	if err := me.own(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
	if err := me.own(filepath.Join(dir, "new")); err != nil {
		t.Error(err)
	}
	link, open, file := filepath.Join(dir, "link"), filepath.Join(dir, "open"), filepath.Join(dir, "file")
	for _, err := range []error{os.Symlink("new", link), os.Mkdir(open, 0o700), os.Chmod(open, 0o770),
		os.WriteFile(file, nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{link, open, file, filepath.Join(dir, "none", "below")} {
		if me.own(path) == nil {
			t.Errorf("%s is taken", path)
		}
	}
	other := account{uid: me.uid + 1, gid: me.gid}
	if other.own(filepath.Join(dir, "new")) == nil {
		t.Error("another account's directory is taken")
	}
}

// As root, a directory that the account of the server cannot enter is named, and how to open it. Who is not root runs
// the server as itself and enters its own directory.
func TestReaches(t *testing.T) {
	t.Parallel()
	open, err := os.MkdirTemp("/tmp", "hitchpost-reach-") // t.TempDir is in a shut directory itself
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(open) })
	shut := filepath.Join(open, "shut")
	dir := filepath.Join(shut, "data", "postgres")
	if err := errors.Join(os.MkdirAll(dir, 0o711), os.Chmod(open, 0o711)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(shut, 0o700); err != nil {
		t.Fatal(err)
	}
	a, err := chooseAccount(filepath.Join(dir, "data"), "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = a.reaches(dir, filepath.Join(b.Dir, "postgres"))
	if os.Geteuid() != 0 {
		if err != nil {
			t.Error(err)
		}
		return
	}
	if hitchpost.KindOf(err) != hitchpost.FailedError || !strings.Contains(err.Error(), "cannot enter "+shut+":") ||
		!strings.Contains(err.Error(), "chmod o+x "+shut) {
		t.Errorf("%v", err)
	}
	if err := os.Chmod(shut, 0o711); err != nil {
		t.Fatal(err)
	}
	if err := a.reaches(dir, filepath.Join(b.Dir, "postgres")); err != nil {
		t.Error(err)
	}
	if a.name == "" || a.uid == 0 {
		t.Errorf("root lends %+v", a)
	}
}

func TestReadPostmaster(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if p, err := readPostmaster(dir); p != nil || err != nil {
		t.Errorf("%+v, %v", p, err)
	}
	for text, want := range map[string]postmaster{
		"123\n/data\n1700000000\n5432\n/run/x\n\n  1 2\nready   \n": {123, "/run/x"},
		"123\n/data\n": {123, ""}, "-7\n": {7, ""}, "": {}, "x": {},
	} {
		if err := os.WriteFile(filepath.Join(dir, pidFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := readPostmaster(dir); err != nil || *p != want {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

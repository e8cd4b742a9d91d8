package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/hitchpost/hitchpost"
)

// account is who the server runs as.
type account struct {
	name     string
	uid, gid int
	other    bool // not the one that this process runs as
}

// chooseAccount is the account for the server in data. PostgreSQL refuses to run as root, so root lends it one that
// may do little; a cluster that exists stays with its owner. preferred is tried first where it is not empty.
func chooseAccount(data, preferred string) (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	if info, err := os.Stat(data); err == nil {
		st := info.Sys().(*syscall.Stat_t)
		if st.Uid == 0 {
			return account{}, hitchpost.Errorf(hitchpost.FailedError, "%s belongs to root, as which PostgreSQL does not run",
				data).Hinted("give it with all it holds to the account postgres")
		}
		u, err := user.LookupId(strconv.Itoa(int(st.Uid)))
		if err != nil {
			return account{}, hitchpost.Errorf(hitchpost.FailedError, "the owner of %s has no account: %w", data, err)
		}
		return accountOf(u)
	}
	for _, name := range []string{preferred, "postgres", "_postgres", "nobody"} {
		if name == "" {
			continue
		}
		if u, err := user.Lookup(name); err == nil {
			return accountOf(u)
		}
	}
	return account{}, hitchpost.Errorf(hitchpost.FailedError, "PostgreSQL does not run as root and there is no account "+
		"postgres or nobody").Hinted("create one: useradd --system postgres")
}

func accountOf(u *user.User) (account, error) {
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return account{}, err
	}
	gid, err := strconv.Atoi(u.Gid)
	return account{name: u.Username, uid: uid, gid: gid, other: uid != os.Geteuid()}, err
}

// attributes makes a command run as the account, without any group but its own.
func (a account) attributes() *syscall.SysProcAttr {
	if !a.other {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}}
}

// own makes path, a directory of mode 0700, if it is missing, and gives it to the account. One that is there already
// must be a plain directory of that account.
func (a account) own(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return a.owns(path)
	}
	if err != nil {
		return err
	}
	if a.other {
		return os.Lchown(path, a.uid, a.gid)
	}
	return nil
}

// owns tells what is wrong with a directory that others may have made: a link, another owner, or room for others.
func (a account) owns(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	st := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", path)
	case int(st.Uid) != a.uid:
		return fmt.Errorf("%s belongs to another account", path)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s is open to other accounts", path)
	}
	return nil
}

// reaches checks that the account can run the program and enter dir, by doing so: only the kernel knows what modes,
// access lists and mount options add up to.
func (a account) reaches(dir, program string) error {
	if !a.other || a.enters(dir, program) == nil {
		return nil
	}
	if err := a.enters("/", program); err != nil {
		return hitchpost.Errorf(hitchpost.FailedError, "cannot run %s as the account %s: %w", program, a.name, err).
			Hinted("let that account read and run it, or give --database-url")
	}
	shut := dir
	for _, part := range ancestors(dir) {
		if a.enters(part, program) != nil {
			shut = part
			break
		}
	}
	return hitchpost.Errorf(hitchpost.FailedError, "the account %s, which PostgreSQL runs as, cannot enter %s", a.name,
		shut).Hinted("chmod o+x %s, or choose another --data-dir", shut)
}

// enters runs the program in dir as the account; its own work is just to print its version.
func (a account) enters(dir, program string) error {
	cmd := exec.Command(program, "--version")
	cmd.Dir, cmd.Env, cmd.SysProcAttr = dir, environment(), a.attributes()
	return cmd.Run()
}

// ancestors lists the directories on the way to dir, from the root, dir included.
func ancestors(dir string) []string {
	var all []string
	for at := 0; at < len(dir); {
		next := strings.IndexByte(dir[at:], filepath.Separator)
		if next < 0 {
			break
		}
		all = append(all, filepath.Clean(dir[:at+next+1]))
		at += next + 1
	}
	return append(all, dir)
}

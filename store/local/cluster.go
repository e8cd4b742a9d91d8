package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/hitchpost/hitchpost"
)

// Config says where the cluster is.
type Config struct {
	Dir string // made if missing; the data is in data below it
	Log *slog.Logger

	// Account, as root, is tried before postgres and nobody as the one that a new cluster belongs to.
	Account string
	// Volatile gives up what makes a cluster survive the end of the machine, for speed: for throw-away ones of tests.
	Volatile bool
}

// Cluster is a cluster whose server runs. Its methods may be called from many goroutines.
type Cluster struct {
	dir, data string
	socket    string // directory
	account   account
	major     int
	log       *slog.Logger
	volatile  bool
	users     *os.File // holds a shared lock while this process uses the cluster; nil once stopped

	mu    sync.Mutex
	pid   int           // of the server that was used last
	child chan struct{} // closed when the server that this process started has ended; nil where it started none
}

// The locks in the cluster's directory: one process at a time starts or stops the server, and each that uses it has
// its share of the other.
const (
	startLock = "start.lock"
	usersLock = "users.lock"
)

// Start makes the cluster in c.Dir if there is none, starts its server or takes up the one that runs, and returns once
// it answers, for which ctx sets the limit. The caller stops it.
func Start(ctx context.Context, conf Config) (*Cluster, error) {
	dir, err := filepath.Abs(conf.Dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: dir, data: filepath.Join(dir, "data"), log: conf.Log, volatile: conf.Volatile}
	if c.account, err = chooseAccount(c.data, conf.Account); err != nil {
		return nil, err
	}
	if err := c.prepareDir(); err != nil {
		return nil, err
	}
	if err := c.Ensure(ctx); err != nil {
		if c.users != nil {
			_ = c.users.Close()
		}
		return nil, err
	}
	return c, nil
}

// prepareDir makes the cluster's directory. As root it is root's own, and the account may pass through it.
func (c *Cluster) prepareDir() error {
	mode := fs.FileMode(0o700)
	if c.account.other {
		mode = 0o711
	}
	if err := os.MkdirAll(c.dir, mode); err != nil {
		return err
	}
	info, err := os.Stat(c.dir)
	if err != nil {
		return err
	}
	if uid := int(info.Sys().(*syscall.Stat_t).Uid); uid != os.Geteuid() {
		return hitchpost.Errorf(hitchpost.FailedError, "%s belongs to account %d and not to this one (%d)", c.dir, uid,
			os.Geteuid()).Hinted("run as its owner, or choose another --data-dir")
	}
	if info.Mode().Perm() == mode {
		return nil
	}
	return os.Chmod(c.dir, mode)
}

// Ensure starts the server again if it has ended, as after a crash of it, and returns once it answers. It does nothing
// to one that is well.
func (c *Cluster) Ensure(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	lock, err := flock(ctx, filepath.Join(c.dir, startLock), syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Close()
	if c.users == nil {
		if c.users, err = flock(ctx, filepath.Join(c.dir, usersLock), syscall.LOCK_SH); err != nil {
			return err
		}
	}
	return c.up(ctx)
}

// URL is the database URL of the cluster.
func (c *Cluster) URL() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.url(database)
}

func (c *Cluster) url(db string) string {
	q := url.Values{"host": {c.socket}, "port": {fmt.Sprint(port)}, "user": {role}, "sslmode": {"disable"}}
	// A plus sign stands for itself in such a URL, and not for a blank as in a form; the manual, 34.1.1.2 Connection URIs.
	query := strings.ReplaceAll(q.Encode(), "+", "%20")
	return (&url.URL{Scheme: "postgres", Path: "/" + db, RawQuery: query}).String()
}

// Major is the major version of PostgreSQL that the cluster belongs to.
func (c *Cluster) Major() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.major
}

// SocketDir is the directory that the server's socket is in.
func (c *Cluster) SocketDir() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.socket
}

// Stop gives up this process's use of the cluster, and ends the server when no other process uses it. Clients still
// connected are cut off, transactions under way are rolled back. It waits until the server is gone; when ctx ends
// first, the server is made to stop without tidying up, which costs the next start a recovery and no data. A second
// Stop does nothing.
func (c *Cluster) Stop(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.users == nil {
		return nil
	}
	lock, err := flock(ctx, filepath.Join(c.dir, startLock), syscall.LOCK_EX)
	if err != nil {
		return err
	}
	defer lock.Close()
	// Changing a shared lock to an exclusive one succeeds for the last user alone, and nobody comes in meanwhile.
	err = syscall.Flock(int(c.users.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	_ = c.users.Close()
	c.users = nil
	if errors.Is(err, syscall.EWOULDBLOCK) {
		c.log.Info("leaving the private PostgreSQL to its other users", "dir", c.dir)
		return nil
	}
	if err != nil {
		return err
	}
	return c.down(ctx)
}

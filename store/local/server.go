package local

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hitchpost/hitchpost"
)

const (
	logFile  = "server.log"
	logLimit = 1 << 20 // bytes; at a start the log is emptied when it is longer

	// silence is how long a server may give no sign of life before it counts as stuck.
	silence = 15 * time.Second
	poll    = 20 * time.Millisecond
)

// up brings the server to life; the start lock is held.
func (c *Cluster) up(ctx context.Context) error {
	for {
		found, err := c.account.living(ctx, c.data)
		if err != nil {
			return err
		}
		if found == nil {
			return c.start(ctx)
		}
		if c.major, err = majorOf(c.data); err != nil {
			return err
		}
		err = c.takeUp(ctx, found)
		if !errors.Is(err, errEnded) {
			return err
		}
	}
}

// errEnded tells that a server ended while it was waited for.
var errEnded = errors.New("the server ended")

// takeUp makes use of a server that runs already. It waits while that is starting, and stops one that cannot be
// reached any more because its socket was swept away (as in /tmp, or at the end of a login in XDG_RUNTIME_DIR).
func (c *Cluster) takeUp(ctx context.Context, found *postmaster) error {
	c.socket = found.socket
	if c.socket != "" {
		if _, err := os.Stat(filepath.Join(c.socket, socketFile)); errors.Is(err, fs.ErrNotExist) {
			c.log.Warn("the private PostgreSQL has lost its socket and is started again", "dir", c.dir)
			if err := c.down(ctx); err != nil {
				return err
			}
			return errEnded
		}
	}
	err := c.await(ctx, func() bool {
		now, err := c.account.living(ctx, c.data)
		if now != nil && c.socket == "" {
			c.socket = now.socket
		}
		return err == nil && now == nil
	})
	if err == nil && c.pid != found.pid {
		c.pid = found.pid
		c.log.Info("using the private PostgreSQL that runs already", "dir", c.dir, "pid", c.pid)
	}
	return err
}

// start starts a server where none runs.
func (c *Cluster) start(ctx context.Context) error {
	var err error
	if c.major, err = majorOf(c.data); err != nil {
		return err
	}
	if c.major != 0 && room(c.data) < least {
		return c.Trouble() // a try would leave a torn lock, and tell less
	}
	b, err := suiting(ctx, c.data, c.major)
	if err != nil {
		return err
	}
	if err := c.account.reaches(c.dir, filepath.Join(b.Dir, "postgres")); err != nil {
		return err
	}
	if c.socket, err = socketDir(c.dir, c.account); err != nil {
		return err
	}
	if c.major == 0 {
		if err := c.initdb(ctx, b); err != nil {
			return err
		}
		c.major = b.Major
	}
	if err := c.configure(); err != nil {
		return err
	}
	if err := c.clearLeftovers(ctx); err != nil {
		return err
	}
	if err := c.launch(filepath.Join(b.Dir, "postgres")); err != nil {
		return err
	}
	done := c.child
	err = c.await(ctx, func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	})
	if errors.Is(err, errEnded) {
		if trouble := c.Trouble(); trouble != nil {
			return trouble
		}
		return hitchpost.Errorf(hitchpost.FailedError, "the private PostgreSQL did not start: %s", c.lastLog()).
			Hinted("see %s", filepath.Join(c.dir, logFile))
	}
	if err != nil {
		// What was started here and never answered is not left behind.
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		return errors.Join(err, c.down(stop))
	}
	c.log.Info("started the private PostgreSQL", "dir", c.dir, "pid", c.pid, "version", b.Version)
	return nil
}

// clearLeftovers takes away the locks of a server that is no more. PostgreSQL does so itself unless the number in them
// belongs to some process by now. No lock is touched before every process that works on the data has ended: those of
// a killed server take a moment to notice, and one whose lock was taken away stops within a minute.
func (c *Cluster) clearLeftovers(ctx context.Context) error {
	for {
		left, err := c.account.stragglers(ctx, c.data)
		if err != nil {
			return err
		}
		if len(left) == 0 {
			break
		}
		if err := pause(ctx); err != nil {
			return hitchpost.Errorf(hitchpost.UnavailableError, "processes of a killed PostgreSQL still work in %s: %v: %w",
				c.data, left, err).Hinted("end them and try again")
		}
	}
	for _, path := range []string{filepath.Join(c.data, pidFile), filepath.Join(c.socket, socketFile+".lock"),
		filepath.Join(c.socket, socketFile)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// launch starts the server program in a session of its own, so that no signal to ours reaches it and it outlives us.
func (c *Cluster) launch(program string) error {
	path := filepath.Join(c.dir, logFile)
	log, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil && info.Size() > logLimit {
		if err := log.Truncate(0); err != nil {
			return err
		}
	}
	cmd := exec.Command(program, c.arguments()...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", environment(), c.account.attributes()
	cmd.SysProcAttr.Setsid = true
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return hitchpost.Errorf(hitchpost.FailedError, "could not start %s: %w", program, err)
	}
	done := make(chan struct{})
	c.pid, c.child = cmd.Process.Pid, done
	go func() { // ends with the server; down waits for it
		defer close(done)
		_ = cmd.Wait()
	}()
	return nil
}

// await returns once the server answers and the database exists. errEnded comes when ended does first.
func (c *Cluster) await(ctx context.Context, ended func() bool) error {
	heard := time.Now()
	for {
		err := c.answers(ctx)
		if err == nil {
			return nil
		}
		if ended() {
			return errEnded
		}
		var pg *pgconn.PgError
		switch {
		case errors.As(err, &pg) && pg.Code == "57P03": // cannot_connect_now: starting, recovering or shutting down
			heard = time.Now()
		case errors.As(err, new(*hitchpost.Error)):
			return err
		case errors.As(err, &pg):
			return hitchpost.Errorf(hitchpost.FailedError, "the private PostgreSQL refuses: %w", err)
		case time.Since(heard) > silence:
			return hitchpost.Errorf(hitchpost.UnavailableError, "the private PostgreSQL in %s runs and does not answer: %w",
				c.dir, err).Hinted("see %s", filepath.Join(c.dir, logFile))
		}
		if err := pause(ctx); err != nil {
			return hitchpost.Errorf(hitchpost.UnavailableError, "the private PostgreSQL in %s is not ready: %w", c.dir, err).
				Hinted("see %s", filepath.Join(c.dir, logFile))
		}
	}
}

// answers asks the server whether it serves this very data, and makes the database if it is missing.
func (c *Cluster) answers(ctx context.Context) error {
	if c.socket == "" {
		return errors.New("it has no socket yet")
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.url("postgres"))
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var data string
	var exists bool
	err = conn.QueryRow(ctx, `select current_setting('data_directory'),
		exists (select from pg_database where datname = $1)`, database).Scan(&data, &exists)
	if err != nil {
		return err
	}
	if !sameFile(data, c.data) {
		return hitchpost.Errorf(hitchpost.ConflictError, "the socket in %s is of the server on %s", c.socket, data)
	}
	if !exists {
		_, err = conn.Exec(ctx, "create database "+database)
	}
	return err
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

// down ends the server, if one runs, and waits until it is gone; the start lock is held.
func (c *Cluster) down(ctx context.Context) error {
	// The end of ctx is no reason to leave the server behind.
	lasting := context.WithoutCancel(ctx)
	var pid int
	switch p, err := c.account.living(lasting, c.data); {
	case err != nil:
		return err
	case p != nil:
		pid = p.pid
	case c.child != nil:
		pid = c.pid // not waited for yet, so the number is its own; its lock may be missing
	default:
		return nil
	}
	// SIGINT is the fast shutdown, SIGQUIT the immediate one (postgres(1)). SIGKILL would leave its children behind.
	err := c.end(ctx, pid, syscall.SIGINT)
	if err != nil {
		hard, cancel := context.WithTimeout(lasting, 5*time.Second)
		defer cancel()
		err = c.end(hard, pid, syscall.SIGQUIT)
	}
	if err != nil {
		return hitchpost.Errorf(hitchpost.UnavailableError, "the private PostgreSQL (process %d) does not stop: %w", pid, err).
			Hinted("see whether that process is suspended")
	}
	if c.child != nil {
		<-c.child
		c.child = nil
	}
	c.log.Info("stopped the private PostgreSQL", "dir", c.dir, "pid", pid)
	return nil
}

// end sends a signal to the server and waits for its end.
func (c *Cluster) end(ctx context.Context, pid int, signal syscall.Signal) error {
	if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return c.gone(ctx, pid)
}

// gone waits until process pid no longer serves the data.
func (c *Cluster) gone(ctx context.Context, pid int) error {
	at, err := os.Stat(c.data)
	if err != nil {
		return err
	}
	for {
		works, err := c.account.worksIn(context.WithoutCancel(ctx), int32(pid), at)
		if err != nil || !works {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

// lastLog is the last thing that the server said of a fault, or at all.
func (c *Cluster) lastLog() string {
	f, err := os.Open(filepath.Join(c.dir, logFile))
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > 8192 {
		_, _ = f.Seek(-8192, io.SeekEnd)
	}
	text, err := io.ReadAll(f)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if _, fault, ok := strings.Cut(lines[i], "FATAL:  "); ok {
			return fault
		}
	}
	return lastLine(string(text))
}

// pause waits one turn of polling, or tells why ctx ended.
func pause(ctx context.Context) error {
	t := time.NewTimer(poll)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

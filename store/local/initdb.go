package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hitchpost/hitchpost"
)

// majorOf is the major version that made the cluster in data, 0 when there is no cluster.
func majorOf(data string) (int, error) {
	text, err := os.ReadFile(filepath.Join(data, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(data); err == nil {
			return 0, hitchpost.Errorf(hitchpost.FailedError, "%s is not the data of PostgreSQL: it has no PG_VERSION", data).
				Hinted("restore it, or move it away to begin anew")
		}
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || major <= 0 {
		return 0, hitchpost.Errorf(hitchpost.FailedError, "%s/PG_VERSION holds %q, which is no version", data, text).
			Hinted("restore it, or move %s away to begin anew", data)
	}
	return major, nil
}

// initdb makes the cluster with b. It grows under another name and gets its own when it is complete and on disk, so a
// killed run leaves nothing that could be taken for a cluster.
func (c *Cluster) initdb(ctx context.Context, b Binaries) error {
	fresh := c.data + ".new"
	if err := os.RemoveAll(fresh); err != nil {
		return err
	}
	if err := c.account.own(fresh); err != nil {
		return err
	}
	c.log.Info("making a private PostgreSQL cluster", "dir", c.data, "version", b.Version)
	// The locale C sorts alike on every machine and outlives every upgrade of the C library.
	args := []string{"-D", fresh, "--username=" + role, "--encoding=UTF8", "--locale=C", "--data-checksums",
		"--auth-local=peer", "--auth-host=reject"}
	if c.volatile {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, filepath.Join(b.Dir, "initdb"), args...)
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", environment(), c.account.attributes()
	if out, err := cmd.CombinedOutput(); err != nil {
		_ = os.RemoveAll(fresh)
		return hitchpost.Errorf(hitchpost.FailedError, "could not make the private PostgreSQL cluster: %s: %w",
			lastLine(string(out)), err)
	}
	if err := os.Rename(fresh, c.data); err != nil {
		return err
	}
	return syncDir(c.dir)
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	err = errors.Join(d.Sync(), d.Close())
	if err != nil {
		return fmt.Errorf("sync %s: %w", path, err)
	}
	return nil
}

// lastLine is the last line of text that is not blank, without the space around it.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

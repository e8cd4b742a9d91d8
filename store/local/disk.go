package local

import (
	"math"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

const (
	// segment is what PostgreSQL takes at once for its log, in bytes, when a file of that is used up
	// (wal_segment_size). Without it the server ends.
	segment = 16 << 20
	// least is what a server needs to start at all: its lock, a line in its log.
	least = 64 << 10
)

// Trouble tells what may keep the server from working although nothing is wrong with it: a disk that is full, or as
// good as that. Nil where there is room. It is for explaining what has failed, and asks the disk alone.
func (c *Cluster) Trouble() error {
	switch left := room(c.data); {
	case left < least:
		return hitchpost.Errorf(hitchpost.UnavailableError, "the disk of %s is full", c.dir).Hinted("free space, then try again")
	case left < segment:
		return hitchpost.Errorf(hitchpost.UnavailableError, "the disk of %s is as good as full, it has %d kB left", c.dir,
			left>>10).Hinted("free space, then try again")
	}
	return nil
}

// room is how many bytes the disk of dir takes from an account without privileges; plenty where the system does not
// tell.
func room(dir string) uint64 {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return math.MaxUint64
	}
	return st.Bavail * uint64(st.Bsize)
}

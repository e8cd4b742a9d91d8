package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/shirou/gopsutil/v4/process"
)

const (
	// MaxTree is how many processes of a tree are told of.
	MaxTree = 256
	// MaxCommand is how many bytes of a command line are told of.
	MaxCommand = 4096
)

// Tree is a process and what descends from it, at one moment.
type Tree struct {
	At    time.Time
	Nodes []Node // the process itself, then each followed by its children, oldest first; none: it is not there
	More  int    // descendants beyond MaxTree, which are not told of
}

// Node is one process of a tree.
type Node struct {
	Process
	Depth   int           // 0 for the process that was asked for
	Command []string      // its words, cut to MaxCommand bytes together; none for a zombie
	Cut     bool          // there is more of Command
	State   string        // running, sleep, blocked, stop, zombie, idle and the like; empty: unknown
	CPU     time.Duration // user and system time so far, without that of children which ended
	Share   float64       // of one core: since it began or, after SharesSince, since then
	RSS     uint64        // bytes of memory that are its own or shared; 0: unknown
	Runs    time.Duration // since it began; 0: unknown
}

// TreeOf returns the tree of a process. A process that ended is no error: the tree is empty then. An error means that
// the tree is not whole.
func TreeOf(ctx context.Context, pid int) (Tree, error) {
	t := Tree{At: time.Now()}
	of, err := parents(ctx)
	if err != nil {
		return t, err
	}
	children := map[int32][]int32{}
	for child, parent := range of {
		children[parent] = append(children[parent], child)
	}
	seen := map[int32]bool{} // pids are used again: what was read over a moment may hold a circle
	var visit func(pid int32, depth int) error
	visit = func(pid int32, depth int) error {
		if err := stopped(ctx); err != nil {
			return err
		}
		if seen[pid] {
			return nil
		}
		seen[pid] = true
		if len(t.Nodes) == MaxTree {
			t.More++
		} else if n, ok := node(ctx, pid, depth, t.At); ok {
			t.Nodes = append(t.Nodes, n)
		}
		// A pid is higher than those before it, until the kernel begins anew.
		for _, child := range slices.Sorted(slices.Values(children[pid])) {
			if err := visit(child, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if _, there := of[int32(pid)]; !there {
		return t, nil
	}
	return t, visit(int32(pid), 0)
}

// SharesSince is t with the shares of CPU that its processes had since an earlier look. Those that were not there then
// have what they had since they began.
func (t Tree) SharesSince(earlier Tree) Tree {
	gap := t.At.Sub(earlier.At)
	if gap <= 0 {
		return t
	}
	t.Nodes = slices.Clone(t.Nodes)
	for i, n := range t.Nodes {
		was := slices.IndexFunc(earlier.Nodes, func(e Node) bool { return e.is(n.Process) })
		if was >= 0 {
			t.Nodes[i].Share = share(n.CPU-earlier.Nodes[was].CPU, gap)
		}
	}
	return t
}

// Sum is the CPU time, the share and the memory of all processes of the tree. What they share of memory counts for each.
func (t Tree) Sum() (cpu time.Duration, share float64, rss uint64) {
	for _, n := range t.Nodes {
		cpu, share, rss = cpu+n.CPU, share+n.Share, rss+n.RSS
	}
	return cpu, share, rss
}

// node is what can be told of a process; false where it has ended.
func node(ctx context.Context, pid int32, depth int, now time.Time) (Node, bool) {
	p := &process.Process{Pid: pid}
	about, ok := describe(ctx, p)
	if !ok {
		return Node{}, false
	}
	n := Node{Process: about, Depth: depth}
	n.Command, n.Cut = command(ctx, p)
	if state, err := p.StatusWithContext(ctx); err == nil && len(state) > 0 {
		n.State = state[0]
	}
	if spent, err := p.TimesWithContext(ctx); err == nil {
		n.CPU = time.Duration((spent.User + spent.System) * float64(time.Second))
	}
	if mem, err := p.MemoryInfoWithContext(ctx); err == nil {
		n.RSS = mem.RSS
	}
	if !n.Since.IsZero() {
		n.Runs = max(0, now.Sub(n.Since))
		n.Share = share(n.CPU, n.Runs)
	}
	return n, true
}

// share is CPU time as a part of one core over a while; more than 1 with several threads. Both are rounded, so that the
// share over a moment would be anything.
func share(cpu, over time.Duration) float64 {
	if cpu <= 0 {
		return 0
	}
	return float64(cpu) / float64(max(over, time.Second/10))
}

// command is the words of a process, cut to MaxCommand bytes.
func command(ctx context.Context, p *process.Process) (words []string, cut bool) {
	all, err := p.CmdlineSliceWithContext(ctx)
	if err != nil {
		return nil, false
	}
	left := MaxCommand
	for i, word := range all {
		if len(word) >= left {
			return append(words, string([]byte(word[:left]))), len(word) > left || i < len(all)-1
		}
		left -= len(word) + 1
		// A copy: the words are parts of one text, which may have megabytes.
		words = append(words, string([]byte(word)))
	}
	return words, false
}

// stopped is why ctx ended, nil while it has not.
func stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("look at processes: %w", context.Cause(ctx))
	}
	return nil
}

// is tells whether both are one process, and not a later one with its pid. When the machine was started, from which
// beginnings are counted, is known to a second only and not twice the same.
func (p Process) is(other Process) bool {
	return p.Pid == other.Pid && p.Since.Sub(other.Since).Abs() <= 2*time.Second
}

// byAge orders processes by their beginning.
func byAge(a, b Process) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Pid, b.Pid)) }

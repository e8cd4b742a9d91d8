package host_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/host"
)

func TestTreeTellsOfEveryDescendant(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", host.MaxCommand)
	top := run(t, nil, "sh", "-c", `sleep 1000 & sh -c 'sleep 1001 & while :; do :; done' "$0" & wait`, long)
	var tree host.Tree
	eventually(t, "a shell, a sleep, and a shell that works with a sleep of its own", func() bool {
		var err error
		if tree, err = host.TreeOf(t.Context(), top); err != nil {
			t.Fatal(err)
		}
		names := make([]string, 0, len(tree.Nodes))
		for _, n := range tree.Nodes {
			names = append(names, n.Program)
		}
		slices.Sort(names)
		cpu, _, _ := tree.Sum()
		return slices.Equal(names, []string{"sh", "sh", "sleep", "sleep"}) && cpu >= 100*time.Millisecond
	})
	if n := tree.Nodes[0]; n.Pid != top || n.Depth != 0 || n.Parent != os.Getpid() || !n.Cut {
		t.Errorf("the root is %+v", n)
	}
	at := map[int]host.Node{top: tree.Nodes[0]}
	for _, n := range tree.Nodes[1:] {
		above, ok := at[n.Parent]
		if !ok || n.Depth != above.Depth+1 {
			t.Errorf("process %d of depth %d stands before its parent %d or too deep", n.Pid, n.Depth, n.Parent)
		}
		at[n.Pid] = n
	}
	for _, n := range tree.Nodes {
		size := 0
		for _, w := range n.Command {
			size += len(w)
		}
		if size == 0 || size > host.MaxCommand || n.RSS == 0 || n.State == "" || n.Since.IsZero() {
			t.Errorf("half a process: %+v", n)
		}
	}
	busy := tree.Nodes[slices.IndexFunc(tree.Nodes, func(n host.Node) bool { return n.Program == "sh" && n.Depth == 1 })]
	eventually(t, "the share since then is that of the shell that works", func() bool {
		later, err := host.TreeOf(t.Context(), top)
		if err != nil {
			t.Fatal(err)
		}
		later = later.SharesSince(tree)
		i := slices.IndexFunc(later.Nodes, func(n host.Node) bool { return n.Pid == busy.Pid })
		_, sum, _ := later.Sum()
		return i >= 0 && later.Nodes[i].Share > 0.02 && later.Nodes[i].Share >= sum*0.9
	})
}

func TestTreeOfNobodyIsEmpty(t *testing.T) {
	t.Parallel()
	if tree, err := host.TreeOf(t.Context(), 1<<30); err != nil || len(tree.Nodes) != 0 {
		t.Errorf("%+v, %v", tree, err)
	}
}

// What is asked for may be as large as somebody likes to make it.
func TestTreeIsBounded(t *testing.T) {
	t.Parallel()
	const extra = 20
	script := `i=0; while [ $i -lt ` + itoa(host.MaxTree+extra-1) + ` ]; do sleep 1000 & i=$((i+1)); done; wait`
	top := run(t, nil, "sh", "-c", script)
	eventually(t, "as many as may be, and the number of the others", func() bool {
		tree, err := host.TreeOf(t.Context(), top)
		if err != nil {
			t.Fatal(err)
		}
		return len(tree.Nodes) == host.MaxTree && tree.More == extra
	})
}

func TestLooksHeedTheirContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	if _, err := host.TreeOf(ctx, os.Getpid()); !errors.Is(err, reason) {
		t.Errorf("tree: %v", err)
	}
	if _, err := host.Agents(ctx, mark); !errors.Is(err, reason) {
		t.Errorf("agents: %v", err)
	}
	if _, _, err := host.InDir(ctx, t.TempDir()); !errors.Is(err, reason) {
		t.Errorf("directory: %v", err)
	}
}

func TestFactsOfTheMachine(t *testing.T) {
	t.Parallel()
	first, err := host.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if first.CPUs < 1 || first.MemoryTotal == 0 || first.MemoryAvailable == 0 || first.MemoryAvailable > first.MemoryTotal ||
		first.Load < 0 || first.SwapFree > first.SwapTotal {
		t.Errorf("%+v", first)
	}
	if s := first.ShareSince(host.Machine{}); s <= 0 || s > 1 {
		t.Errorf("share since the start %v", s)
	}
	if s := first.ShareSince(first); s != 0 {
		t.Errorf("share over no time %v", s)
	}
	run(t, nil, "sh", "-c", "while :; do :; done")
	eventually(t, "a share of the cores is used", func() bool {
		now, err := host.Facts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s := now.ShareSince(first)
		return s > 0 && s <= 1
	})
}

// BenchmarkTreeOf is the tree of this process, found in the machine's own table.
func BenchmarkTreeOf(b *testing.B) {
	for b.Loop() {
		if _, err := host.TreeOf(b.Context(), os.Getpid()); err != nil {
			b.Fatal(err)
		}
	}
}

package main

import (
	"context"
	"os/exec"
	"testing"
	"time"
)

// A busy process below the front counts for the front, also when it has ended and was waited for.
func TestLoadOfAFront(t *testing.T) {
	t.Parallel()
	// The shell waits for its child, which works for as long as it is let.
	cmd := exec.Command("sh", "-c", `sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; read x`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := []int{cmd.Process.Pid}
	start := readLoad(pids, nil)
	var used usage
	err = eventually(context.Background(), time.Minute, "CPU time of the child", func() bool {
		used = readLoad(pids, nil).since(start)
		return used.front >= 50*time.Millisecond
	})
	if err != nil {
		t.Errorf("%v, last %v", err, used)
	}
	alone := readLoad(nil, pids).since(load{at: start.at})
	if alone.front != 0 {
		t.Errorf("a process of tmux counts %v for the front", alone.front)
	}
	_ = in.Close()
	_ = cmd.Wait() // read finds the end of its input
}

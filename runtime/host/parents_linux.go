package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/shirou/gopsutil/v4/process"
)

// parents is the parent of every process, from one look. gopsutil tells it too, but reads the machine's boot time anew
// for each process, which on a machine of many cores costs more than all the rest.
func parents(ctx context.Context) (map[int32]int32, error) {
	pids, err := process.PidsWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	of := make(map[int32]int32, len(pids))
	for _, pid := range pids {
		if err := stopped(ctx); err != nil {
			return of, err
		}
		raw, err := os.ReadFile("/proc/" + strconv.Itoa(int(pid)) + "/stat")
		if err != nil {
			continue // it ended
		}
		if parent, ok := parentIn(raw); ok {
			of[pid] = parent
		}
	}
	return of, nil
}

// parentIn is the parent in the text of /proc/PID/stat; proc_pid_stat(5). The name in parentheses before it may hold
// anything, spaces and parentheses too.
func parentIn(stat []byte) (int32, bool) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0, false
	}
	parent, err := strconv.ParseInt(string(fields[1]), 10, 32)
	return int32(parent), err == nil
}

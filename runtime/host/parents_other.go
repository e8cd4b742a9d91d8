//go:build !linux

package host

import (
	"context"
	"fmt"

	"github.com/shirou/gopsutil/v4/process"
)

// parents is the parent of every process, from one look.
func parents(ctx context.Context) (map[int32]int32, error) {
	all, err := process.ProcessesWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	of := make(map[int32]int32, len(all))
	for _, p := range all {
		if err := stopped(ctx); err != nil {
			return of, err
		}
		if parent, err := p.PpidWithContext(ctx); err == nil {
			of[p.Pid] = parent
		}
	}
	return of, nil
}

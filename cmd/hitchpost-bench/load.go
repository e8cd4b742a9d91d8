package main

import (
	"context"
	"math"
	"time"
)

// calm is how much of the machine others may use before a figure is not to be trusted.
const calm = 0.08

// usage is who used the machine's cores between two moments. Where the system does not tell, the values are not known:
// front is zero and others is NaN.
type usage struct {
	front  time.Duration // the server, with all it started
	others float64       // share of all cores that neither side, the tmux server nor this program used
}

// meter measures a side's usage from now on.
type meter struct {
	side  *side
	start load
}

func startMeter(s *side) meter { return meter{s, readLoad(s.front(), s.tmux())} }

func (m meter) stop() usage { return readLoad(m.side.front(), m.side.tmux()).since(m.start) }

// waitCalm returns when others leave the machine alone, or after limit, and tells how long that took.
func waitCalm(ctx context.Context, limit time.Duration) time.Duration {
	began := time.Now()
	for time.Since(began) < limit && ctx.Err() == nil {
		start := readLoad(nil, nil)
		pause(ctx, 300*time.Millisecond)
		if u := readLoad(nil, nil).since(start); u.others < calm || math.IsNaN(u.others) {
			break
		}
	}
	return time.Since(began)
}

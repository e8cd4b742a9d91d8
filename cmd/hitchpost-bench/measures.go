package main

import (
	"context"
	"fmt"
	"math"
	"time"
)

// mark is what a session's program prints first; it is what a first screen shows.
const mark = "BENCH-READY"

// measurement is one thing that is measured, by one side at a time.
type measurement struct {
	name string
	take func(context.Context, *side) (turn, error)
}

// turn is what came out when one side did it once.
type turn struct {
	figures []figure
	used    usage
}

// figure is one line of the table.
type figure struct {
	name  string
	value float64
	more  bool // more is better; for all else less is
	aim   string
}

func (t turn) brief() string {
	others := "unknown"
	if !math.IsNaN(t.used.others) {
		others = fmt.Sprintf("%.0f %%", t.used.others*100)
	}
	return fmt.Sprintf("%8.2f  others used %s of the machine", t.figures[0].value, others)
}

// plainMeasures need no more sessions than they open themselves.
func plainMeasures(p plan) []measurement {
	return []measurement{
		{"connect", func(ctx context.Context, s *side) (turn, error) { return connect(ctx, s, p.connects) }},
		{"connect, ssh program", func(ctx context.Context, s *side) (turn, error) { return login(ctx, s, p.logins) }},
		{"echo", func(ctx context.Context, s *side) (turn, error) { return echo(ctx, s, p.keys, 0) }},
		{"echo, paced", func(ctx context.Context, s *side) (turn, error) { return echo(ctx, s, p.paced, 10*time.Millisecond) }},
		{"bulk", func(ctx context.Context, s *side) (turn, error) { return bulk(ctx, s, p.lines) }},
		{"task, ssh program", func(ctx context.Context, s *side) (turn, error) {
			return command(ctx, s, s.task, p.verbs, "ssh host task run --wait -- true beside true, ms p50", "5.00")
		}},
	}
}

// filledMeasures are of a hitchpost that runs sessions already.
func filledMeasures(p plan) []measurement {
	return []measurement{{"command, ssh program", func(ctx context.Context, s *side) (turn, error) {
		return command(ctx, s, s.verb, p.verbs, "ssh host ls --json beside true, ms p50", "1.20")
	}}}
}

// listMeasures compare one hitchpost with another.
func listMeasures(p plan) []measurement {
	return []measurement{{"list, ssh program", func(ctx context.Context, s *side) (turn, error) {
		return command(ctx, s, s.verb, p.verbs, "ssh host ls --json, ms p50", "3.00")
	}}}
}

// connect is the time from the TCP connection to the session's screen, one connection after the other.
func connect(ctx context.Context, s *side, n int) (turn, error) {
	took, used, err := first(ctx, s, n, func() (*screen, error) { return s.watch(ctx, "bench-connect") })
	return turn{used: used, figures: []figure{
		{name: "connect to first screen, ms p50", value: percentile(took, 50), aim: "0.08"},
		{name: "– p95", value: percentile(took, 95)},
		{name: "– server CPU each, ms", value: millis(used.front) / float64(n), aim: "0.20"},
	}}, err
}

// login is the same with the ssh program, its start included.
func login(ctx context.Context, s *side, n int) (turn, error) {
	took, used, err := first(ctx, s, n, func() (*screen, error) { return s.watchSSH(ctx, "bench-connect") })
	return turn{used: used, figures: []figure{
		{name: "connect with the ssh program, ms p50", value: percentile(took, 50), aim: "0.10"},
	}}, err
}

// first opens and closes n screens, after one that warms up.
func first(ctx context.Context, s *side, n int, open func() (*screen, error)) ([]float64, usage, error) {
	if err := s.open(ctx, "bench-connect", "printf '"+mark+"\\n'; exec cat"); err != nil {
		return nil, usage{}, err
	}
	defer s.end("bench-connect")
	var took []float64
	var m meter
	for i := range n + 1 {
		if i == 1 {
			m = startMeter(s)
		}
		began := time.Now()
		v, err := open()
		if err != nil {
			return nil, usage{}, err
		}
		err = v.until(mark)
		elapsed := time.Since(began)
		v.close()
		if err != nil {
			return nil, usage{}, err
		}
		if i > 0 {
			took = append(took, millis(elapsed))
		}
		pause(ctx, 30*time.Millisecond) // the server clears up
	}
	return took, m.stop(), nil
}

// echo is the time from a key to its picture. The pane's terminal echoes; the program behind it reads and says nothing.
func echo(ctx context.Context, s *side, keys int, gap time.Duration) (turn, error) {
	if err := s.open(ctx, "bench-echo", "stty -icanon; printf '"+mark+"\\n'; exec cat >/dev/null"); err != nil {
		return turn{}, err
	}
	defer s.end("bench-echo")
	v, err := s.watch(ctx, "bench-echo")
	if err != nil {
		return turn{}, err
	}
	defer v.close()
	if err := v.until(mark); err != nil {
		return turn{}, err
	}
	pause(ctx, 700*time.Millisecond) // tmux names the window after half a second, which redraws
	if _, err := v.strike(ctx, 40, 0); err != nil {
		return turn{}, err
	}
	m := startMeter(s)
	took, err := v.strike(ctx, keys, gap)
	if err != nil {
		return turn{}, err
	}
	used := m.stop()
	what, aims := "echo, next key at once, us p50", [3]string{"1.05", "1.20", "1.10"}
	if gap > 0 {
		what, aims = fmt.Sprintf("echo, a key every %v, us p50", gap), [3]string{"1.05", "", "1.40"}
	}
	return turn{used: used, figures: []figure{
		{name: what, value: percentile(took, 50), aim: aims[0]},
		{name: "– p99", value: percentile(took, 99), aim: aims[1]},
		{name: "– server CPU a key, us", value: millis(used.front) * 1e3 / float64(keys), aim: aims[2]},
	}}, nil
}

// strike types keys one after the other, each when the one before it is on the screen and the gap is over.
func (v *screen) strike(ctx context.Context, keys int, gap time.Duration) ([]float64, error) {
	// None of these stands in an escape sequence, and neighbours differ, so that a key is seen only where it is drawn.
	const marks = "#@%"
	took := make([]float64, 0, keys)
	for i := range keys {
		if gap > 0 {
			pause(ctx, gap)
		}
		if i%60 == 59 { // stay off the right margin: what tmux draws at a wrap shows earlier keys too
			if _, err := v.Write([]byte{'\n', '&'}); err != nil {
				return nil, err
			}
			if err := v.until("&"); err != nil {
				return nil, err
			}
		}
		key := marks[i%len(marks) : i%len(marks)+1]
		began := time.Now()
		if _, err := v.Write([]byte(key)); err != nil {
			return nil, err
		}
		if err := v.until(key); err != nil {
			return nil, err
		}
		took = append(took, float64(time.Since(began).Nanoseconds())/1e3)
	}
	return took, nil
}

// bulk is how fast a program can print while somebody watches. tmux drops what a client cannot take, so bytes say
// nothing; the last line has to be on the screen.
func bulk(ctx context.Context, s *side, lines int) (turn, error) {
	// tmux reads in pieces and may draw the last line in two; then the one after it counts.
	script := "stty -echo; printf '" + mark + "\\n'; while read n; do seq 1 $n; " +
		"for i in 1 2 3; do printf 'BENCH-%s-DONE\\n' $n; sleep 0.02; done; done"
	if err := s.open(ctx, "bench-bulk", script); err != nil {
		return turn{}, err
	}
	defer s.end("bench-bulk")
	v, err := s.watch(ctx, "bench-bulk")
	if err != nil {
		return turn{}, err
	}
	defer v.close()
	if err := v.until(mark); err != nil {
		return turn{}, err
	}
	m := startMeter(s)
	began := time.Now()
	if _, err := fmt.Fprintf(v, "%d\n", lines); err != nil {
		return turn{}, err
	}
	if err := v.until(fmt.Sprintf("BENCH-%d-DONE", lines)); err != nil {
		return turn{}, err
	}
	rate := float64(lines) / time.Since(began).Seconds()
	used := m.stop()
	return turn{used: used, figures: []figure{
		{name: "bulk output, thousand lines/s", value: rate / 1e3, more: true, aim: "1.00"},
		{name: "– server CPU, ms", value: millis(used.front), aim: "0.60"},
	}}, nil
}

// command is a whole run of the ssh program with a command line, from its start to its exit, n times and once before.
func command(ctx context.Context, s *side, line string, n int, what, aim string) (turn, error) {
	var took []float64
	m := startMeter(s)
	for i := range n + 1 {
		cmd := s.ssh("-T", line)
		began := time.Now()
		if out, err := cmd.Output(); err != nil {
			return turn{}, fmt.Errorf("ssh %s: %w: %s", line, err, out)
		}
		if i > 0 {
			took = append(took, millis(time.Since(began)))
		}
		pause(ctx, 10*time.Millisecond)
	}
	used := m.stop()
	return turn{used: used, figures: []figure{
		{name: what, value: percentile(took, 50), aim: aim},
		{name: "– server CPU each, ms", value: millis(used.front) / float64(n+1)},
	}}, nil
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

// pause waits for d or the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

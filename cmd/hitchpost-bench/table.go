package main

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
)

// table collects the figures of all rounds. The first side is the yardstick.
type table struct {
	sides []*side
	lines []*line
}

// line is one figure of both sides.
type line struct {
	figure
	values map[*side]map[int]float64 // by round
	others []float64                 // of every turn
}

func newTable(ours, peer *side) *table { return &table{sides: []*side{peer, ours}} }

// add takes one turn's figures. A name that starts with a dash belongs to the figure before it, so that the same words
// may stand below several.
func (t *table) add(round int, s *side, got turn) {
	under := ""
	for _, f := range got.figures {
		if !strings.HasPrefix(f.name, "–") {
			under = f.name
		}
		l := t.line(under, f)
		if l.values[s] == nil {
			l.values[s] = map[int]float64{}
		}
		l.values[s][round] = f.value
		l.others = append(l.others, got.used.others)
	}
}

func (t *table) line(under string, f figure) *line {
	head := ""
	for _, l := range t.lines {
		if !strings.HasPrefix(l.name, "–") {
			head = l.name
		}
		if head == under && l.name == f.name {
			return l
		}
	}
	l := &line{figure: f, values: map[*side]map[int]float64{}}
	t.lines = append(t.lines, l)
	return l
}

// ratios are ours to theirs, round by round.
func (l *line) ratios(peer, ours *side) []float64 {
	var rs []float64
	for round, v := range l.values[ours] {
		if theirs := l.values[peer][round]; theirs > 0 {
			rs = append(rs, v/theirs)
		}
	}
	slices.Sort(rs)
	return rs
}

// trouble tells why the line is not to be trusted, or nothing.
func (l *line) trouble(ratios []float64) string {
	others := median(l.others)
	switch {
	case math.IsNaN(others):
		return "load unknown"
	case others > calm:
		return fmt.Sprintf("too busy: others used %.0f %% of the machine", others*100)
	case len(ratios) < 3:
		return "too few rounds"
	case ratios[len(ratios)-1] > 2*ratios[0]:
		return "unsteady: the rounds differ by more than twice"
	}
	return ""
}

func (t *table) print(out io.Writer) {
	if len(t.lines) == 0 {
		return
	}
	peer, ours := t.sides[0], t.sides[1]
	if !slices.ContainsFunc(t.lines, func(l *line) bool { return len(l.ratios(peer, ours)) > 0 }) {
		return
	}
	fmt.Fprintf(out, "\n%s (%s) beside %s (%s, %s), %s/%s, %d cores\n", ours.name, ours.version, peer.name, peer.version,
		version("tmux", "-V"), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
	fmt.Fprintf(out, "medians of the rounds; the ratio is the median of the rounds' ratios, %s to %s\n\n", ours.name, peer.name)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s\t%s\t%s\tratio\tfrom\tto\taim\t\t\n", pad(""), peer.name, ours.name)
	distrusted := 0
	for _, l := range t.lines {
		ratios := l.ratios(peer, ours)
		if len(ratios) == 0 {
			continue // its CPU time is not known here
		}
		why := l.trouble(ratios)
		if why != "" {
			distrusted++
			why = "! " + why
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%s\t\t %s\n", pad(l.name), number(l.median(peer)), number(l.median(ours)),
			median(ratios), ratios[0], ratios[len(ratios)-1], l.goal(), why)
	}
	_ = w.Flush()
	if distrusted > 0 {
		fmt.Fprintf(out, "\n%d of %d rows are not to be trusted; run it again on a calm machine, with more rounds\n",
			distrusted, len(t.lines))
	}
}

func (l *line) median(s *side) float64 {
	var values []float64
	for _, v := range l.values[s] {
		values = append(values, v)
	}
	return median(values)
}

func (l *line) goal() string {
	switch {
	case l.aim == "":
		return ""
	case l.more:
		return "≥ " + l.aim
	}
	return "≤ " + l.aim
}

// pad fills up a name, since the table's columns are aligned to the right.
func pad(name string) string {
	const width = 40
	return name + strings.Repeat(" ", max(0, width-len([]rune(name))))
}

func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// percentile is by the nearest rank.
func percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(p/100*float64(len(sorted))))-1)]
}

func median(values []float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

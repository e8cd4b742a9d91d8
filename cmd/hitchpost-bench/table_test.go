package main

import (
	"strings"
	"testing"
)

// Three rounds, in which the machine gets slower: the ratios stay what they are.
func TestTable(t *testing.T) {
	t.Parallel()
	ours, peer := &side{name: "ours"}, &side{name: "theirs"}
	tb := newTable(ours, peer)
	for round, slow := range []float64{1, 2, 4} {
		for _, s := range tb.sides {
			connect, cpu := 100*slow, 10*slow
			if s == ours {
				connect, cpu = connect/20, cpu/[]float64{1, 2, 4}[round]
			}
			tb.add(round, s, turn{used: usage{others: 0.02}, figures: []figure{
				{name: "connect", value: connect, aim: "0.08"}, {name: "– cpu", value: cpu},
			}})
			tb.add(round, s, turn{used: usage{others: 0.5}, figures: []figure{
				{name: "lines", value: 3, more: true, aim: "1.00"}, {name: "– cpu", value: 7},
			}})
		}
	}
	var out strings.Builder
	tb.print(&out)
	for _, want := range [][]string{
		{"connect", "200", "10.0", "0.05", "0.05", "0.05", "≤", "0.08"},
		{"–", "cpu", "20.0", "10.0", "0.50", "0.25", "1.00", "!", "unsteady:"},
		{"lines", "3.00", "3.00", "1.00", "1.00", "1.00", "≥", "1.00", "!", "too", "busy:", "others", "used", "50", "%"},
		{"–", "cpu", "7.00", "7.00", "1.00"},
		{"3", "of", "4", "rows", "are", "not", "to", "be", "trusted;"},
	} {
		if !hasLine(out.String(), want) {
			t.Errorf("no line that begins %q in\n%s", want, out.String())
		}
	}
}

// hasLine finds a line by its first words, whatever is between them.
func hasLine(text string, words []string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.Join(strings.Fields(line), " ")+" ", strings.Join(words, " ")+" ") {
			return true
		}
	}
	return false
}

func TestPercentileAndMedian(t *testing.T) {
	t.Parallel()
	values := []float64{5, 1, 4, 2, 3}
	for p, want := range map[float64]float64{0: 1, 20: 1, 50: 3, 95: 5, 100: 5} {
		if got := percentile(values, p); got != want {
			t.Errorf("percentile %v is %v, want %v", p, got, want)
		}
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median of an even number is %v, want 2.5", got)
	}
}

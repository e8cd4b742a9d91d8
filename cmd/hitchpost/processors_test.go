package main

import (
	"slices"
	"testing"
)

func TestPace(t *testing.T) {
	t.Parallel()
	quiet := slices.Repeat([]float64{0}, paceQuiet-1)
	for name, test := range map[string]struct {
		start, most int
		used        []float64 // processors, one look after the other
		want        int
	}{
		"one key after the other":      {1, 8, []float64{0.3, 0.4, 0.5, 0.3}, 1},
		"many people":                  {1, 8, []float64{0.9}, 2},
		"more and more":                {1, 8, []float64{1, 2, 4, 8}, 8},
		"not more than there are":      {2, 3, []float64{2, 3}, 3},
		"as much as it has":            {1, 1, []float64{1}, 1},
		"in the middle it stays":       {4, 8, slices.Repeat([]float64{2}, 3*paceQuiet), 4},
		"a pause is no end":            {4, 8, append(slices.Clone(quiet), 2, 0), 4},
		"the end":                      {4, 8, append(slices.Clone(quiet), 0), 2},
		"long after the end":           {8, 8, slices.Repeat([]float64{0}, 5*paceQuiet), 1},
		"what halves does not grow so": {2, 8, append(slices.Repeat([]float64{0.35}, paceQuiet), 0.35), 1},
	} {
		p := pace{now: test.start, most: test.most}
		got := p.now
		for _, used := range test.used {
			got = p.next(used)
		}
		if got != test.want {
			t.Errorf("%s: %d processors instead of %d", name, got, test.want)
		}
	}
}

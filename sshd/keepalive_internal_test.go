package sshd

import "testing"

// TestASilenceIsListenedThrough counts the intervals in which the server listened, and only those.
func TestASilenceIsListenedThrough(t *testing.T) {
	t.Parallel()
	type interval struct {
		heard   int64
		overdue bool
	}
	quiet, overdue := interval{7, false}, interval{7, true}
	for name, c := range map[string]struct {
		intervals []interval
		gone      bool
	}{
		"silent for three":                         {[]interval{quiet, quiet, quiet}, true},
		"silent for two":                           {[]interval{quiet, quiet}, false},
		"stopped for hours":                        {[]interval{overdue}, false},
		"stopped again and again":                  {[]interval{overdue, overdue, overdue, overdue}, false},
		"stopped just before the last":             {[]interval{quiet, quiet, overdue}, false},
		"and silent after that":                    {[]interval{quiet, quiet, overdue, quiet}, true},
		"heard, then silent for two":               {[]interval{quiet, quiet, {8, false}, {8, false}}, false},
		"heard, then silent for three":             {[]interval{quiet, quiet, {8, false}, {8, false}, {8, false}}, true},
		"heard while the server stood still":       {[]interval{quiet, quiet, {8, true}, {8, false}, {8, false}}, false},
		"an answer that comes in every other time": {[]interval{quiet, {8, false}, {8, false}, {9, false}, {9, false}}, false},
	} {
		s := silence{heard: 7}
		gone := false
		for i, of := range c.intervals {
			if gone {
				t.Errorf("%s: gone after %d intervals", name, i)
			}
			gone = s.passed(of.heard, of.overdue)
		}
		if gone != c.gone {
			t.Errorf("%s: gone %v", name, gone)
		}
	}
}

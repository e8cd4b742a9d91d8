package runtime

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// What strangers cause while the database is away pushes out nothing else, and all else is written in its order.
func TestLedgerDuringAnOutage(t *testing.T) {
	t.Parallel()
	l := newLedger(slog.New(slog.DiscardHandler))
	l.pause = time.Millisecond
	away := true
	var wrote []string
	var tries int
	add := func(name string, put func(string, func(context.Context) error)) {
		put(name, func(context.Context) error {
			tries++
			if away {
				away = tries < 10
				return hitchpost.Errorf(hitchpost.UnavailableError, "away")
			}
			wrote = append(wrote, name)
			return nil
		})
	}
	var want []string
	for i := range 3 * ledgerMinor {
		if i%1000 == 0 {
			name := fmt.Sprint("attach ", i)
			add(name, l.add)
			want = append(want, name)
		}
		name := fmt.Sprint("refusal ", i)
		add(name, l.addMinor)
		if i < ledgerMinor {
			want = append(want, name)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	add("last", func(what string, write func(context.Context) error) {
		l.add(what, func(ctx context.Context) error {
			defer stop()
			return write(ctx)
		})
	})
	l.run(ctx)
	if want = append(want, "last"); !slices.Equal(wrote, want) {
		t.Errorf("%d entries written, want %d, the last %q", len(wrote), len(want), wrote[len(wrote)-1])
	}
	// There is place for as many again.
	for i := range ledgerMinor + 1 {
		l.addMinor(fmt.Sprint(i), nil)
	}
	if len(l.entries) != ledgerMinor {
		t.Errorf("%d entries wait", len(l.entries))
	}
}

// Command hitchpost-bench measures a built hitchpost beside an OpenSSH sshd whose users run `tmux attach`, in one run on
// one machine: `make bench`. Both sides take turns within each round, so that what disturbs the machine disturbs both,
// and what counts is the median of the rounds' ratios.
//
// It measures and prints. Its exit status tells whether it could measure, never whether the figures are good.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// plan is how much is measured.
type plan struct {
	binary   string
	rounds   int
	connects int           // connections a round and side
	logins   int           // the same with the real ssh client
	keys     int           // keys typed one after the other
	paced    int           // keys typed with a pause between them
	lines    int           // lines of bulk output
	sessions int           // sessions that `ls --json` lists
	long     int           // sessions of the longer list
	verbs    int           // commands a round and side
	only     string        // part of the names of the measures to take; empty: all
	quiet    time.Duration // left of the wait for a calm machine
	keep     bool
}

func parse(args []string, stderr io.Writer) (plan, error) {
	p := plan{connects: 20, logins: 6, keys: 500, paced: 150, lines: 2_000_000, long: 1000, verbs: 10}
	flags := flag.NewFlagSet("hitchpost-bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&p.binary, "binary", "bin/hitchpost", "the program to measure")
	flags.IntVar(&p.rounds, "rounds", 5, "rounds; the medians are theirs")
	flags.IntVar(&p.sessions, "sessions", 200, "sessions that ls --json lists")
	flags.StringVar(&p.only, "only", "", "take only the measures whose names hold this, as in: task")
	flags.DurationVar(&p.quiet, "quiet", time.Minute, "how long to wait for a calm machine, in all")
	flags.BoolVar(&p.keep, "keep", false, "leave the scratch folder with the logs")
	if err := flags.Parse(args); err != nil {
		return plan{}, err
	}
	if flags.NArg() > 0 || p.rounds < 1 || p.sessions < 0 || p.long < 1 {
		flags.Usage()
		return plan{}, fmt.Errorf("unusable arguments %q", args)
	}
	return p, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	p, err := parse(args, stderr)
	if err != nil {
		return 2
	}
	progress := func(format string, a ...any) { fmt.Fprintf(stderr, format+"\n", a...) }
	tables, err := measure(ctx, p, progress)
	for _, t := range tables {
		t.print(stdout)
	}
	if err != nil {
		progress("hitchpost-bench: %v", err)
		return 1
	}
	return 0
}

// measure starts both sides, lets each measure take its turns, and stops them. What was measured before an error is
// returned with it.
func measure(ctx context.Context, p plan, progress func(string, ...any)) ([]*table, error) {
	s, err := newScratch(p.keep)
	if err != nil {
		return nil, err
	}
	defer s.remove()
	progress("scratch folder %s", s.dir)
	beside, err := measureBeside(ctx, &p, s, progress)
	if err != nil {
		return []*table{beside}, err
	}
	lists, err := measureLists(ctx, &p, s, progress)
	return []*table{beside, lists}, err
}

// measureBeside is hitchpost beside sshd.
func measureBeside(ctx context.Context, p *plan, s *scratch, progress func(string, ...any)) (*table, error) {
	t := &table{}
	plain, filled := p.chosen(plainMeasures(*p)), p.chosen(filledMeasures(*p))
	if len(plain)+len(filled) == 0 {
		return t, nil
	}
	ours, err := startHitchpost(ctx, p.binary, s, "hitchpost")
	if err != nil {
		return t, err
	}
	defer ours.stop()
	peer, err := startOpenSSH(ctx, s)
	if err != nil {
		return t, fmt.Errorf("the sshd to compare with: %w", err)
	}
	defer peer.stop()
	t = newTable(ours, peer)
	if err := rounds(ctx, p, t, plain, progress); err != nil || len(filled) == 0 {
		return t, err
	}
	progress("starting %d sessions for ls --json", p.sessions)
	if err := ours.fill(ctx, p.sessions); err != nil {
		return t, err
	}
	return t, rounds(ctx, p, t, filled, progress)
}

// measureLists is a hitchpost that knows many sessions beside one that knows few.
func measureLists(ctx context.Context, p *plan, s *scratch, progress func(string, ...any)) (*table, error) {
	const short = 10
	lists := p.chosen(listMeasures(*p))
	if len(lists) == 0 {
		return &table{}, nil
	}
	var sides []*side
	for _, n := range []int{p.long, short} {
		h, err := startHitchpost(ctx, p.binary, s, fmt.Sprintf("with-%d", n))
		if err != nil {
			return &table{}, err
		}
		defer h.stop()
		if err := h.seed(ctx, n); err != nil {
			return &table{}, fmt.Errorf("keep %d sessions: %w", n, err)
		}
		sides = append(sides, h)
	}
	t := newTable(sides[0], sides[1])
	return t, rounds(ctx, p, t, lists, progress)
}

// chosen are those of the measures that are to be taken.
func (p *plan) chosen(all []measurement) []measurement {
	return slices.DeleteFunc(all, func(m measurement) bool { return !strings.Contains(m.name, p.only) })
}

// rounds lets both sides take turns, the first of them another in each round.
func rounds(ctx context.Context, p *plan, t *table, measures []measurement, progress func(string, ...any)) error {
	for round := range p.rounds {
		for _, m := range measures {
			for turn := range t.sides {
				side := t.sides[(turn+round)%len(t.sides)]
				p.quiet -= waitCalm(ctx, p.quiet)
				got, err := m.take(ctx, side)
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err != nil {
					return fmt.Errorf("%s of %s: %w", m.name, side.name, err)
				}
				t.add(round, side, got)
				progress("round %d/%d  %-20s %-10s %s", round+1, p.rounds, m.name, side.name, got.brief())
			}
		}
	}
	return nil
}

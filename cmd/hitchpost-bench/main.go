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
	verbs    int           // commands a round and side
	quiet    time.Duration // left of the wait for a calm machine
	keep     bool
}

func parse(args []string, stderr io.Writer) (plan, error) {
	p := plan{connects: 20, logins: 6, keys: 500, paced: 150, lines: 2_000_000, verbs: 10}
	flags := flag.NewFlagSet("hitchpost-bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&p.binary, "binary", "bin/hitchpost", "the program to measure")
	flags.IntVar(&p.rounds, "rounds", 5, "rounds; the medians are theirs")
	flags.IntVar(&p.sessions, "sessions", 200, "sessions that ls --json lists")
	flags.DurationVar(&p.quiet, "quiet", time.Minute, "how long to wait for a calm machine, in all")
	flags.BoolVar(&p.keep, "keep", false, "leave the scratch folder with the logs")
	if err := flags.Parse(args); err != nil {
		return plan{}, err
	}
	if flags.NArg() > 0 || p.rounds < 1 || p.sessions < 0 {
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
	table, err := measure(ctx, p, progress)
	if table != nil {
		table.print(stdout)
	}
	if err != nil {
		progress("hitchpost-bench: %v", err)
		return 1
	}
	return 0
}

// measure starts both sides, lets each measure take its turns, and stops them. What was measured before an error is
// returned with it.
func measure(ctx context.Context, p plan, progress func(string, ...any)) (*table, error) {
	s, err := newScratch(p.keep)
	if err != nil {
		return nil, err
	}
	defer s.remove()
	progress("scratch folder %s", s.dir)

	ours, err := startHitchpost(ctx, p.binary, s)
	if err != nil {
		return nil, err
	}
	defer ours.stop()
	peer, err := startOpenSSH(ctx, s)
	if err != nil {
		return nil, fmt.Errorf("the sshd to compare with: %w", err)
	}
	defer peer.stop()

	t := newTable(ours, peer)
	if err := rounds(ctx, &p, t, attachMeasures(p), progress); err != nil {
		return t, err
	}
	progress("starting %d sessions for ls --json", p.sessions)
	if err := ours.fill(ctx, p.sessions); err != nil {
		return t, err
	}
	return t, rounds(ctx, &p, t, verbMeasures(p), progress)
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

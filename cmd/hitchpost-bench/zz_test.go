package main

import (
	"context"
	"os"
	"testing"
	"fmt"
)

func TestZZ(t *testing.T) {
	s, err := newScratch(false)
	if err != nil { t.Fatal(err) }
	defer s.remove()
	a, err := startOpenSSH(context.Background(), s)
	if err != nil { t.Fatal(err) }
	defer a.stop()
	b := *a
	b.name = "again"
	p, _ := parse(nil, os.Stderr)
	p.rounds = 3
	tb := newTable(&b, a)
	pr := func(f string, x ...any) { fmt.Printf(f+"\n", x...) }
	if err := rounds(context.Background(), p, tb, append(attachMeasures(p), verbMeasures(p)...), pr); err != nil { t.Error(err) }
	tb.print(os.Stdout)
}

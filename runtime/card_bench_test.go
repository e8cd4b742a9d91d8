package runtime_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// BenchmarkCard is a card of a live session in a tree of 300 files, some of which changed.
func BenchmarkCard(b *testing.B) {
	r := newRig(b)
	dir := r.repository("api")
	for i := range 300 {
		r.write(filepath.Join(dir, fmt.Sprintf("file-%d", i)), fmt.Sprintln(i))
	}
	r.git(dir, "add", ".")
	r.git(dir, "commit", "-q", "-m", "files")
	for i := range 10 {
		r.write(filepath.Join(dir, fmt.Sprintf("file-%d", i)), "changed\n")
	}
	r.startIn(dir, "api", "cat")
	b.ResetTimer()
	for b.Loop() {
		if c := r.card("api"); !c.Repo.TreeWhy.Known() || c.Advice.Do != hitchpost.StepAttach {
			b.Fatalf("%+v", c)
		}
	}
}

// BenchmarkList is what ls asks of the service, beside it.
func BenchmarkList(b *testing.B) {
	r := newRig(b)
	r.startIn(r.dir, "api", "cat")
	for b.Loop() {
		if list, err := r.List(context.Background(), admin, hitchpost.ListRequest{}); err != nil || len(list) != 1 {
			b.Fatal(err)
		}
	}
}

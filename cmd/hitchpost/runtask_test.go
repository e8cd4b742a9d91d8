package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/task"
)

// BenchmarkRunTask is what a background command costs beside itself: from the start of the runner until the record of
// `true` is there. cpu-ms is the processor time of the runner and the command together.
func BenchmarkRunTask(b *testing.B) {
	dir := b.TempDir()
	cpu := 0.0
	for i := range b.N {
		b.StopTimer()
		folder := filepath.Join(dir, strconv.Itoa(i))
		s := task.Spec{ID: "bench", Argv: []string{"true"}, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"}}
		if err := task.Create(folder, s); err != nil {
			b.Fatal(err)
		}
		cmd := exec.Command(built, runnerVerb, folder)
		cmd.Stderr = os.Stderr
		b.StartTimer()
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		if seen, err := task.Look(folder); err != nil || seen.Record == nil || !seen.Record.Exit().Well() {
			b.Fatalf("%+v, %v", seen, err)
		}
		cpu += (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	}
	b.ReportMetric(1000*cpu/float64(b.N), "cpu-ms/op")
}

//go:build race

package task_test

const (
	anonLimit = 64 << 10 // in kB; the race detector's own memory comes on top of the runner's
	shortRuns = 100      // which starts several times slower
)

//go:build !race

package task_test

const (
	anonLimit = 5 << 10 // the memory, in kB, that a runner may hold for itself
	shortRuns = 500
)

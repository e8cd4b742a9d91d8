//go:build race

package task_test

// anonLimit is in kB; the race detector's own memory comes on top of the runner's.
const anonLimit = 64 << 10

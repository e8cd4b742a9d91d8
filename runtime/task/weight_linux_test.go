//go:build !race

package task_test

// anonLimit is the memory, in kB, that a runner may hold for itself.
const anonLimit = 5 << 10

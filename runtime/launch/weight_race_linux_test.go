//go:build race

package launch_test

// anonLimit is in kB; the race detector's own memory comes on top of the wrapper's.
const anonLimit = 64 << 10

//go:build !race

package launch_test

// anonLimit is the memory, in kB, that a wrapper may hold for itself.
const anonLimit = 4 << 10

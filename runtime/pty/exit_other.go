//go:build !linux

package pty

// awaitExit has no way to wait without a thread here; it leaves the waiting to os.Process.Wait.
func awaitExit(int) {}

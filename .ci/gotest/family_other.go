//go:build !linux

package main

import (
	"os/exec"
	"time"
)

// family is a command alone: only Linux lets a process become the reaper of everything below it, so what the tests
// leave behind is looked for there, and CI runs there.
type family struct{ cmd *exec.Cmd }

func startFamily(cmd *exec.Cmd) (*family, error) { return &family{cmd}, cmd.Start() }

// status waits for the command and is its exit status.
func (f *family) status() int {
	_ = f.cmd.Wait() // the status tells
	return f.cmd.ProcessState.ExitCode()
}

func (f *family) leftovers(time.Duration) []string { return nil }

package main

import "golang.org/x/sys/unix"

const getModes, setModes = unix.TCGETS, unix.TCSETS

// flush drops what was typed and not yet read.
func (t *userTerminal) flush() { _ = unix.IoctlSetInt(int(t.in.Fd()), unix.TCFLSH, unix.TCIFLUSH) }

package main

import "golang.org/x/sys/unix"

// bootClock goes on while the machine sleeps; clock_gettime(2).
const bootClock = unix.CLOCK_BOOTTIME

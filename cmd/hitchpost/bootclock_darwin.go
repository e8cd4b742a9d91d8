package main

import "golang.org/x/sys/unix"

// bootClock goes on while the machine sleeps, and no setting of the time moves it; clock_gettime(3).
const bootClock = unix.CLOCK_MONOTONIC_RAW

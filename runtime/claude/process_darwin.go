package claude

import (
	"time"

	"golang.org/x/sys/unix"
)

// bootClock goes on while the machine sleeps, and no setting of the time moves it; clock_gettime(3).
const bootClock = unix.CLOCK_MONOTONIC_RAW

// zombie is SZOMB of <sys/proc.h>.
const zombie = 5

// lookProcess looks at a process. It is not alive where there is none of that pid, and where it has ended and nobody has
// waited for it. What Claude Code notes of a start has no counterpart here: only the wall clock is known.
func lookProcess(pid int) (processLook, bool) {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(info.Proc.P_pid) != pid || info.Proc.P_stat == zombie {
		return processLook{}, false
	}
	return processLook{
		parent: int(info.Eproc.Ppid), name: unix.ByteSliceToString(info.Proc.P_comm[:]),
		began: time.Unix(info.Proc.P_starttime.Unix()),
	}, true
}

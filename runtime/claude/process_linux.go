package claude

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost/runtime/durable"
)

// bootClock goes on while the machine sleeps; clock_gettime(2).
const bootClock = unix.CLOCK_BOOTTIME

// statBytes is more than a /proc/PID/stat has.
const statBytes = 4096

// lookProcess looks at a process (proc_pid_stat(5)). It is not alive where there is none of that pid, and where it has
// ended and nobody has waited for it.
func lookProcess(pid int) (processLook, bool) {
	stat, err := durable.Read("/proc/"+strconv.Itoa(pid)+"/stat", statBytes)
	if err != nil {
		return processLook{}, false
	}
	return parseStat(stat)
}

// parseStat reads the fields behind the name, which stands in parentheses and may hold any byte, parentheses too.
func parseStat(stat []byte) (processLook, bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return processLook{}, false
	}
	fields := bytes.Fields(stat[end+1:])
	const state, parent, start = 0, 1, 19 // fields 3, 4 and 22 of the page
	if len(fields) <= start || bytes.ContainsAny(fields[state], "ZXx") {
		return processLook{}, false
	}
	ppid, err := strconv.Atoi(string(fields[parent]))
	if err != nil {
		return processLook{}, false
	}
	began, err := strconv.ParseUint(string(fields[start]), 10, 64)
	if err != nil {
		return processLook{}, false
	}
	return processLook{parent: ppid, name: string(stat[open+1 : end]), start: began}, true
}

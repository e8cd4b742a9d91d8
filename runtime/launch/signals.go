package launch

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
)

// The real-time signals have no names of their own. These are the C library's numbers on Linux (signal(7)); elsewhere
// there are none that a program could die of.
const rtMin, rtMax = 34, 64

// SignalName is the name of s without SIG, such as KILL or RTMIN+3; a number where it has none.
func SignalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return strings.TrimPrefix(name, "SIG")
	}
	switch {
	case s == rtMin:
		return "RTMIN"
	case s > rtMin && s <= rtMax:
		return fmt.Sprintf("RTMIN+%d", s-rtMin)
	}
	return strconv.Itoa(int(s))
}

// ParseSignal reads a signal's name, with or without SIG and in any case, or its number. The error is a UsageError.
func ParseSignal(name string) (syscall.Signal, error) {
	if n := Number(name); n > 0 {
		return syscall.Signal(n), nil
	}
	return 0, hitchpost.Errorf(hitchpost.UsageError, "%q is no signal", name).
		Hinted("use a name such as TERM, HUP, INT or KILL")
}

// Number is the number of the signal with that name (see ParseSignal), and 0 where there is none.
func Number(name string) int {
	if n, err := strconv.Atoi(name); err == nil {
		if n > 0 && n <= rtMax && SignalName(syscall.Signal(n)) != strconv.Itoa(n) {
			return n
		}
		return 0
	}
	name = strings.TrimPrefix(strings.ToUpper(name), "SIG")
	switch name { // second names, kill(1)
	case "IOT":
		name = "ABRT"
	case "CLD":
		name = "CHLD"
	case "POLL":
		name = "IO"
	case "RTMIN":
		return rtMin
	}
	if rest, ok := strings.CutPrefix(name, "RTMIN+"); ok {
		if n, err := strconv.Atoi(rest); err == nil && n >= 0 && n <= rtMax-rtMin {
			return rtMin + n
		}
		return 0
	}
	return int(unix.SignalNum("SIG" + name))
}

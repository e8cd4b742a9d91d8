package host

import (
	"context"
	"fmt"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"
)

// Machine is how busy this machine is at one moment.
type Machine struct {
	At              time.Time
	CPUs            int     // cores, as the system counts them
	Load            float64 // processes that ran or waited for a disk, over the last minute; Load5, Load15: minutes
	Load5, Load15   float64
	MemoryTotal     uint64 // bytes
	MemoryAvailable uint64 // bytes that could be had without swapping
	SwapTotal       uint64
	SwapFree        uint64

	busy, all float64 // seconds of all cores since the machine was started
}

// Facts reads how busy this machine is. What cannot be told is zero, and the error says what.
func Facts(ctx context.Context) (Machine, error) {
	m := Machine{At: time.Now()}
	var failed error
	note := func(what string, err error) bool {
		if err != nil && failed == nil {
			failed = fmt.Errorf("read %s of the machine: %w", what, err)
		}
		return err == nil
	}
	var err error
	m.CPUs, err = cpu.CountsWithContext(ctx, true)
	note("the cores", err)
	if times, err := cpu.TimesWithContext(ctx, false); note("the CPU time", err) && len(times) > 0 {
		t := times[0]
		idle := t.Idle + t.Iowait
		m.busy = t.User + t.Nice + t.System + t.Irq + t.Softirq + t.Steal // guests are in User and Nice
		m.all = m.busy + idle
	}
	if avg, err := load.AvgWithContext(ctx); note("the load", err) {
		m.Load, m.Load5, m.Load15 = avg.Load1, avg.Load5, avg.Load15
	}
	if v, err := mem.VirtualMemoryWithContext(ctx); note("the memory", err) {
		m.MemoryTotal, m.MemoryAvailable = v.Total, v.Available
	}
	if v, err := mem.SwapMemoryWithContext(ctx); note("the swap space", err) {
		m.SwapTotal, m.SwapFree = v.Total, v.Free
	}
	return m, failed
}

// ShareSince is the part of all cores' time, 0 to 1, that was used since an earlier look, or since the machine was
// started where that is the zero value. It is 0 for two looks at one moment.
func (m Machine) ShareSince(earlier Machine) float64 {
	all := m.all - earlier.all
	if all <= 0 {
		return 0
	}
	return min(max((m.busy-earlier.busy)/all, 0), 1)
}

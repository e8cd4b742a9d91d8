package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc, which is 1/100 s on every Linux that Go runs on; see proc(5), sysconf(3).
const tick = 10 * time.Millisecond

// load is the CPU time used so far.
type load struct {
	at                      time.Time
	front, tmux, self, busy time.Duration
}

// readLoad adds up /proc: the front's processes with all below them, likewise those of tmux and of this program. A
// process of one is not counted for another.
func readLoad(front, tmux []int) load {
	procs := readProcs()
	// The clients of this program are its children, and so are the servers: those were counted first.
	seen := map[int]bool{}
	for _, pid := range tmux {
		seen[pid] = true
	}
	l := load{at: time.Now(), busy: readBusy()}
	l.front = sum(procs, front, seen)
	for _, pid := range tmux {
		delete(seen, pid)
	}
	l.tmux = sum(procs, tmux, seen)
	l.self = sum(procs, []int{os.Getpid()}, seen)
	return l
}

func (l load) since(start load) usage {
	ours := (l.front - start.front) + (l.tmux - start.tmux) + (l.self - start.self)
	cores := l.at.Sub(start.at) * time.Duration(runtime.NumCPU())
	if cores <= 0 {
		return usage{}
	}
	return usage{front: l.front - start.front, others: max(0, float64(l.busy-start.busy-ours)/float64(cores))}
}

// proc is what is known of a process.
type proc struct {
	pid      int
	children []int
	used     time.Duration // its own, and that of its children that ended and were waited for
}

func readProcs() map[int]*proc {
	procs := map[int]*proc{}
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		// The name in brackets may hold anything; what follows is counted from the last bracket, proc(5).
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(f) < 15 {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		own := ticks(f[11]) + ticks(f[12])
		procs[pid] = &proc{pid: pid, used: max(own, onCPU(pid)) + ticks(f[13]) + ticks(f[14])}
		parents[pid], _ = strconv.Atoi(f[1])
	}
	for pid, parent := range parents {
		if p := procs[parent]; p != nil {
			p.children = append(p.children, pid)
		}
	}
	return procs
}

func ticks(field string) time.Duration {
	n, _ := strconv.ParseInt(field, 10, 64)
	return time.Duration(n) * tick
}

// onCPU is the time that a process's living threads ran, in nanoseconds and so finer than ticks; it misses threads that
// ended, which the caller makes good by taking the larger of the two.
func onCPU(pid int) time.Duration {
	var total time.Duration
	files, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/[0-9]*/schedstat")
	for _, path := range files {
		text, _ := os.ReadFile(path)
		first, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(first, 10, 64)
		total += time.Duration(n)
	}
	return total
}

// sum adds up the processes of pids and all below them that were not seen yet.
func sum(procs map[int]*proc, pids []int, seen map[int]bool) time.Duration {
	var total time.Duration
	for queue := pids; len(queue) > 0; queue = queue[1:] {
		p := procs[queue[0]]
		if p == nil || seen[p.pid] {
			continue
		}
		seen[p.pid] = true
		total += p.used
		queue = append(queue[:len(queue):len(queue)], p.children...)
	}
	return total
}

// readBusy is what all cores did since the start besides nothing: user, nice, system, irq, softirq and steal.
func readBusy() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	f := strings.Fields(line)
	if len(f) < 9 {
		return 0
	}
	return ticks(f[1]) + ticks(f[2]) + ticks(f[3]) + ticks(f[6]) + ticks(f[7]) + ticks(f[8])
}

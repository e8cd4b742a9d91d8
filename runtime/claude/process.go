package claude

import (
	"slices"
	"time"
)

// processLook is what is known of a living process.
type processLook struct {
	parent int
	name   string    // of its program, cut by the system to 15 bytes
	start  uint64    // when it began, in the unit of the system's own; zero: the system does not tell it so
	began  time.Time // the same on the wall clock; zero: not known
}

// maxParents bounds a walk to the top: a process that ends during it may give its number to another.
const maxParents = 64

// looks are the processes that were looked at in one go, each once: those of many sessions descend from the same few.
type looks map[int]processLook

func (l looks) process(pid int) (p processLook, alive bool) {
	p, known := l[pid]
	if !known {
		if p, alive = lookProcess(pid); !alive {
			return p, false
		}
		l[pid] = p
	}
	return p, true
}

// parentsOf are a parent and the processes that it descends from, nearest first, at most limit of them.
func parentsOf(parent, limit int, look func(pid int) (processLook, bool)) []int {
	var all []int
	for parent > 1 && len(all) < limit {
		all = append(all, parent)
		p, ok := look(parent)
		if !ok {
			break
		}
		parent = p.parent
	}
	return all
}

// callersOf are the processes that called a program through a shell or without one, nearest first: of its parents, those
// from the first on that is no shell.
func callersOf(parent, limit int) []int {
	all := parentsOf(parent, limit, lookProcess)
	for i, pid := range all {
		if p, ok := lookProcess(pid); !ok || !slices.Contains(shells(), p.name) {
			return all[i:]
		}
	}
	return nil
}

// shells are the programs that are found as sh, and others that a person may have as one.
func shells() []string {
	return []string{"sh", "dash", "bash", "zsh", "ksh", "mksh", "ash", "busybox", "fish"}
}

package claude

import "time"

// processLook is what is known of a living process.
type processLook struct {
	parent int
	start  uint64    // when it began, in the unit of the system's own; zero: the system does not tell it so
	began  time.Time // the same on the wall clock; zero: not known
}

// maxParents bounds a walk to the top: a process that ends during it may give its number to another.
const maxParents = 64

// parentsOf are the processes that pid descends from, nearest first, at most limit of them. The first is known where
// the others are not.
func parentsOf(parent, limit int) []int {
	var all []int
	for parent > 1 && len(all) < limit {
		all = append(all, parent)
		p, ok := lookProcess(parent)
		if !ok {
			break
		}
		parent = p.parent
	}
	return all
}

package launch

import (
	"os"
	"strconv"
	"strings"
)

// firstToGo is what is added up with a process's share of the memory when the kernel must choose one to kill; proc(5),
// oom_score_adj. Half of all memory is enough to come before tmux, the service and the database, whatever they take,
// and leaves room above for what a person ranks still higher.
const firstToGo = 500

// offer makes what is started from now on a likelier victim of a memory kill than tmux, the wrapper and the service,
// without which nobody would know what became of it. It goes to this process, since a child inherits it from its first
// instant, and undo gives this one back what it had. It never takes a rank away that was there, and where the system
// refuses, nothing changes: a session is not refused for that.
func offer() (undo func()) {
	const file = "/proc/self/oom_score_adj"
	nothing := func() {}
	text, err := os.ReadFile(file)
	if err != nil {
		return nothing
	}
	had, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || had >= firstToGo {
		return nothing
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(firstToGo)), 0); err != nil {
		return nothing
	}
	// Going back needs no right as long as it is not below where a right was last needed; it was not.
	return func() { _ = os.WriteFile(file, text, 0) }
}

package git

import (
	"context"
	"strconv"
	"strings"
)

// Status is what `git status` tells of tracked files and of the branch.
type Status struct {
	Unknown Unknown
	Branch  string // empty where HEAD is on no branch
	// Upstream is what the branch follows, such as origin/main; empty where it follows none. UpstreamGone: what it
	// follows is no more, so Ahead and Behind are not known.
	Upstream      string
	UpstreamGone  bool
	Ahead, Behind int

	Staged     Names // differ from HEAD in the index
	Changed    Names // differ from the index in the tree, or are missing there; a submodule at another commit too
	Conflicted Names // in neither of the others
	Stashes    int   // of the whole repository; git 2.35
}

// statusBytes bounds the output of git status: a line of some 130 bytes and a path for each changed file.
const statusBytes = 16 << 20

// status asks for tracked files alone: to look for untracked ones takes longer, and may take too long by itself.
// Submodules are not entered: git would run another git in them, with what their configuration says.
func (t *Tree) status(ctx context.Context, keep int) Status {
	out, err := t.run(ctx, call{keep: statusBytes}, "status", "-z", "--porcelain=v2", "--branch", "--show-stash",
		"--ahead-behind", "--no-renames", "--untracked-files=no", "--ignore-submodules=dirty")
	if err != nil {
		return Status{Unknown: unknown(err)}
	}
	s := readStatus(out.parts(), keep)
	if out.cut {
		s.Staged.AtLeast, s.Changed.AtLeast, s.Conflicted.AtLeast = true, true, true
	}
	return s
}

// readStatus reads git-status(1), "Porcelain Format Version 2".
func readStatus(parts []string, keep int) Status {
	var s Status
	compared := false
	for _, part := range parts {
		kind, rest, _ := strings.Cut(part, " ")
		switch kind {
		case "#":
			name, value, _ := strings.Cut(rest, " ")
			if name == "branch.ab" {
				compared = true
			}
			s.header(name, value)
		case "1":
			fields := strings.SplitN(rest, " ", 8) // XY sub mH mI mW hH hI path
			if len(fields) == 8 && len(fields[0]) == 2 {
				s.changed(fields[0], fields[7], keep)
			}
		case "u":
			if fields := strings.SplitN(rest, " ", 10); len(fields) == 10 { // XY sub m1 m2 m3 mW h1 h2 h3 path
				s.Conflicted.add(fields[9], keep)
			}
		}
	}
	s.UpstreamGone = s.Upstream != "" && !compared
	return s
}

func (s *Status) header(name, value string) {
	switch name {
	case "branch.head":
		if value != "(detached)" { // no branch can be called that
			s.Branch = value
		}
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		s.Ahead, _ = strconv.Atoi(strings.TrimPrefix(ahead, "+"))
		s.Behind, _ = strconv.Atoi(strings.TrimPrefix(behind, "-"))
	case "stash":
		s.Stashes, _ = strconv.Atoi(value)
	}
}

func (s *Status) changed(xy, path string, keep int) {
	if xy[0] != '.' {
		s.Staged.add(path, keep)
	}
	if xy[1] != '.' {
		s.Changed.add(path, keep)
	}
}

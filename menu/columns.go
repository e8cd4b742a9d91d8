package menu

import (
	"strings"

	"github.com/hitchpost/hitchpost"
)

// column is one property of a session in the list.
type column int

// The columns, in the order in which they stand.
const (
	colHandle column = iota
	colState
	colReason // why those that wait do
	colKind
	colNode
	colProject // where any has one
	colPlace
	colOutput
	colAttached
	colTitle
	columnCount
)

// widths is how wide each column is; 0 means that it is not shown.
type widths [columnCount]int

const (
	gutter = 2 // columns for the mark of the selected row
	gap    = 2 // columns between two columns
)

// natural is how wide each column would be with room for everything, measured once for each new list.
type natural widths

func measure(sessions []hitchpost.Session, home string) natural {
	n := natural{colHandle: 8, colNode: 4, colPlace: 5, colTitle: 5}
	for _, s := range sessions {
		n[colHandle] = max(n[colHandle], width(clean(s.Handle)))
		n[colNode] = max(n[colNode], width(clean(s.Node)))
		if s.Project != "" {
			n[colProject] = max(n[colProject], width(clean(s.Project)), width(heading(colProject)))
		}
		wide := width(clean(place(s, home)))
		if len(s.Clash) > 0 {
			wide += len(wordClash) + 1
		}
		n[colPlace] = max(n[colPlace], wide)
		n[colTitle] = max(n[colTitle], width(clean(s.Title)))
		if why := waitsFor(s); why != "" {
			n[colReason] = max(n[colReason], width(why), width(heading(colReason)))
		}
	}
	n[colHandle] = min(n[colHandle], 28)
	n[colNode] = min(n[colNode], 14)
	n[colProject] = min(n[colProject], 20)
	n[colPlace] = min(n[colPlace], 40)
	n[colTitle] = min(n[colTitle], 60)
	n[colReason] = min(n[colReason], 40)
	n[colState] = 17 + 1 + ageWidth // WAITING_FOR_INPUT
	n[colKind], n[colOutput], n[colAttached] = 7, 6, 3
	return n
}

const (
	stateShort = 11 + 1 + ageWidth // RECOVERABLE; WAITING_FOR_INPUT is written WAITING
	stateTiny  = 8                 // the start of the word, no age
)

// plan chooses the columns for a list of w columns. Handle and state stay; the others come as the width allows, what
// tells most first. What is left over goes to the columns that would be cut.
func plan(w int, n natural) widths {
	var p widths
	w -= gutter
	switch {
	case w < 14:
		p[colHandle] = max(w, 0)
		return p
	case w < 8+gap+stateShort:
		p[colState] = stateTiny
		p[colHandle] = w - gap - stateTiny
		return p
	}
	p[colState] = stateShort
	p[colHandle] = min(n[colHandle], 16)
	rest := w - p[colHandle] - gap - p[colState]
	for _, c := range []struct {
		column
		least int
	}{
		{colReason, min(n[colReason], 16)}, // 0 where nobody waits
		{colOutput, n[colOutput]},
		{colPlace, min(n[colPlace], 14)},
		{colNode, min(n[colNode], 8)},
		{colProject, min(n[colProject], 10)}, // 0 where there is none
		{colState, n[colState]},              // the whole word
		{colKind, n[colKind]},
		{colAttached, n[colAttached]},
		{colTitle, min(n[colTitle], 16)},
	} {
		more := c.least - p[c.column]
		if more <= 0 {
			continue
		}
		if p[c.column] == 0 {
			more += gap
		}
		if rest < more {
			break
		}
		p[c.column] = c.least
		rest -= more
	}
	for _, c := range []column{colHandle, colReason, colPlace, colNode, colProject, colTitle} {
		if p[c] > 0 {
			more := min(rest, n[c]-p[c])
			p[c] += more
			rest -= more
		}
	}
	return p
}

// place is where a session works, as the list shows it: the repository and branch, else the directory.
func place(s hitchpost.Session, home string) string {
	if work := s.Work(); work != "" {
		return work
	}
	return shortPath(s.Cwd, home)
}

// shortPath is a directory as people call it: from the home on, and its last two elements where it lies deep.
func shortPath(dir, home string) string {
	home = strings.TrimRight(home, "/")
	if rest, ok := strings.CutPrefix(dir, home); ok && home != "" && (rest == "" || rest[0] == '/') {
		dir = "~" + rest
	}
	parts := strings.Split(strings.TrimRight(dir, "/"), "/")
	if len(parts) <= 3 {
		return dir
	}
	return ellipsis + "/" + strings.Join(parts[len(parts)-2:], "/")
}

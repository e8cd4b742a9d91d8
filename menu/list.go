package menu

import (
	"slices"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
)

// list is the sessions, which of them are shown, and where the person is. The selection is a session and not a row:
// it stays where it is when rows move.
type list struct {
	all     []hitchpost.Session // sorted
	shown   []hitchpost.Session // those that match the query
	query   string
	at      int    // selected row of shown
	id      string // of the selected session
	top     int    // first visible row
	natural natural
	home    string // the account's
	needed  int    // how many of all need a person
}

// put takes a new snapshot. A closed session leaves the list.
func (l *list) put(sessions []hitchpost.Session, now time.Time) {
	l.all = l.all[:0:0]
	for _, s := range sessions {
		if s.Open() {
			l.all = append(l.all, s)
		}
	}
	l.all = order(l.all, now)
	l.narrow()
	l.natural = measure(l.all, l.home)
	l.needed = 0
	for _, s := range l.all {
		if needsPerson(s.State) {
			l.needed++
		}
	}
}

// filter shows only the sessions that have every word of query in one of their properties.
func (l *list) filter(query string) {
	l.query, l.at, l.top = query, 0, 0
	l.narrow()
}

func (l *list) narrow() {
	words := strings.Fields(strings.ToLower(l.query))
	if len(words) == 0 {
		l.shown = l.all
	} else {
		l.shown = nil
		for _, s := range l.all {
			if matches(s, words) {
				l.shown = append(l.shown, s)
			}
		}
	}
	if i := slices.IndexFunc(l.shown, func(s hitchpost.Session) bool { return s.ID == l.id }); i >= 0 {
		l.at = i
		return
	}
	l.move(0)
}

func matches(s hitchpost.Session, words []string) bool {
	text := strings.ToLower(strings.Join([]string{
		s.Handle, s.Title, string(s.State), string(s.Kind), s.Node, s.Work(), s.Project, s.Cwd, s.ID,
	}, "\n"))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// move goes by rows up or down and stays inside.
func (l *list) move(by int) {
	l.at = max(min(l.at+by, len(l.shown)-1), 0)
	l.id = ""
	if len(l.shown) > 0 {
		l.id = l.shown[l.at].ID
	}
}

// selected is the session under the mark; false when there is none.
func (l *list) selected() (hitchpost.Session, bool) {
	if l.at >= len(l.shown) {
		return hitchpost.Session{}, false
	}
	return l.shown[l.at], true
}

// window is the part of the list that fits in n rows, moved no more than needed to hold the selected row.
func (l *list) window(n int) []hitchpost.Session {
	n = max(n, 0)
	l.top = min(l.top, l.at, max(len(l.shown)-n, 0))
	l.top = max(l.top, l.at-n+1, 0)
	return l.shown[min(l.top, len(l.shown)):min(l.top+n, len(l.shown))]
}

package menu

import (
	"context"
	"errors"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"github.com/kballard/go-shellquote"

	"github.com/hitchpost/hitchpost"
)

// The fields of the form, in the order in which they stand.
const (
	formTitle = iota
	formKind
	formWords
	formDir
)

// form asks for a new session.
type form struct {
	focus   int
	command bool // the kind
	title   field
	words   field
	dir     field
	found   []string // directories that Complete gave, where there are several
	note    string   // what is wrong with the form
	busy    bool     // the session is being started
}

const wordsMost = 64 << 10 // bytes of a command line: a long one is pasted

// openForm starts in the directory of the selected session: the next one is often needed beside it.
func (m *model) openForm() {
	switch {
	case !m.mayDrive():
		m.complain(wordDenied)
		return
	case away(m.status):
		m.complain(wordAway)
		return
	}
	dir := "~"
	if s, ok := m.list.selected(); ok && s.Cwd != "" {
		dir = s.Cwd
	}
	m.mode, m.toast = modeForm, toast{}
	m.form = form{title: newField("", titleMost), words: newField("", wordsMost), dir: newField(dir, 4096)}
}

// shows reports whether the form has field i.
func (f *form) shows(i int) bool { return i != formWords || f.command }

func (f *form) step(by int) {
	for {
		f.focus = (f.focus + by + formDir + 1) % (formDir + 1)
		if f.shows(f.focus) {
			return
		}
	}
}

// text is the field that takes typed text; nil on the kind.
func (f *form) text() *field {
	switch f.focus {
	case formTitle:
		return &f.title
	case formWords:
		return &f.words
	case formDir:
		return &f.dir
	}
	return nil
}

// point moves to the field that an error is about, if it is about one.
func (f *form) point(err error) {
	var e *hitchpost.Error
	if !errors.As(err, &e) {
		return
	}
	at, ok := map[string]int{"title": formTitle, "kind": formKind, "command": formWords, "cwd": formDir}[e.Field]
	if ok && f.shows(at) {
		f.focus = at
	}
}

func (f *form) paste(s string) {
	if t := f.text(); t != nil && !f.busy {
		t.insert(s)
		f.found, f.note = nil, ""
	}
}

func (m *model) pressForm(k tea.KeyPressMsg) tea.Cmd {
	f := &m.form
	if key.Matches(k, m.keys.cancel) || k.String() == "ctrl+c" {
		m.mode = modeList // a start under way goes on, and tells how it went
		return nil
	}
	if f.busy {
		return nil
	}
	m.toast = toast{}
	switch {
	case key.Matches(k, m.keys.submit):
		return m.submit()
	case f.focus == formDir && key.Matches(k, m.keys.complete):
		return m.complete()
	case key.Matches(k, m.keys.next):
		f.step(1)
	case key.Matches(k, m.keys.previous):
		f.step(-1)
	case f.focus == formKind && key.Matches(k, m.keys.change):
		f.command = !f.command
	default:
		if t := f.text(); t != nil && t.press(k, m.keys.field) {
			f.found, f.note = nil, ""
		}
	}
	return nil
}

// submit starts what the form describes.
func (m *model) submit() tea.Cmd {
	f := &m.form
	r := hitchpost.StartRequest{
		Title: strings.TrimSpace(f.title.value()), Kind: hitchpost.Shell, Cwd: strings.TrimSpace(f.dir.value()),
	}
	if f.command {
		words, err := shellquote.Split(f.words.value())
		switch {
		case err != nil:
			f.note, f.focus = wordOpenQuote, formWords
			return nil
		case len(words) == 0:
			f.note, f.focus = wordNoCommand, formWords
			return nil
		}
		r.Kind, r.Args = hitchpost.Command, words
	}
	if m.work.on("") {
		f.note = wordBusy
		return nil
	}
	f.busy, f.note, f.found = true, "", nil
	return m.start(r)
}

// completed is what Complete found for prefix.
type completed struct {
	prefix string
	dirs   []string
	err    error
}

const completeLimit = 2 * time.Second

// complete asks for the directories that start like the field.
func (m *model) complete() tea.Cmd {
	if m.form.dir.value() == "~" {
		m.form.dir.set("~/") // the home itself is what it means
	}
	prefix := m.form.dir.value()
	return m.tasks.read(completeLimit, func(ctx context.Context) tea.Msg {
		dirs, err := m.service.Complete(ctx, m.actor, prefix)
		return completed{prefix, dirs, err}
	})
}

// completed extends the field as far as all the directories agree, and shows them where they do not. An answer to
// what the field no longer holds is dropped.
func (f *form) completed(c completed) {
	if c.prefix != f.dir.value() || f.busy {
		return
	}
	f.found, f.note = nil, ""
	switch {
	case c.err != nil:
		f.note = failure(c.err)
		return
	case len(c.dirs) == 0:
		f.note = wordNoneSuch
		return
	}
	same := c.dirs[0]
	for _, d := range c.dirs[1:] {
		same = common(same, d)
	}
	if len(c.dirs) == 1 && !strings.HasSuffix(same, "/") {
		same += "/"
	}
	if len(same) > len(c.prefix) {
		f.dir.set(same)
	}
	if len(c.dirs) > 1 {
		f.found = c.dirs
	}
}

// common is the longest common start of a and b, whole runes only.
func common(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	for n > 0 && n < len(a) && a[n]&0xC0 == 0x80 { // inside a UTF-8 sequence
		n--
	}
	return a[:n]
}

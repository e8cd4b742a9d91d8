package menu

import (
	"context"
	"errors"
	"strings"
	"unicode"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitchpost/hitchpost"
)

// noteEdit is a note being written. What was typed is saved when the page is left, whatever ends it; what was only proposed
// is saved when the person says so.
type noteEdit struct {
	of       hitchpost.Session
	back     mode
	area     textarea.Model
	loaded   string // the note that the text was written from
	start    string // what the area held then
	proposed string // what was put into the area for the person to change; empty: nothing
	busy     bool   // it is being saved
	theirs   string // the note that somebody else has written meanwhile, in modeClash
	top      int    // of modeClash
}

// noteSaved is the end of a saving.
type noteSaved struct {
	of  hitchpost.Session
	got hitchpost.Session
	err error
}

// openNote opens the note of s to be written, or only to be read.
func (m *model) openNote(s hitchpost.Session) tea.Cmd {
	if !m.allowed(s) {
		return nil
	}
	note := noteEdit{of: s, back: m.mode, loaded: s.Note, area: newArea()}
	if !note.put(s.Note) {
		m.complain(wordNoteOdd)
		return nil
	}
	m.mode, m.subject, m.toast, m.note = modeNote, s, toast{}, note
	if m.card.id == s.ID && m.card.found {
		return nil
	}
	m.card.endLook()
	m.card = cardPage{id: s.ID, gen: m.card.gen, card: hitchpost.Card{Session: s}}
	return m.lookAtCard() // for the draft
}

// newArea is an empty textarea. It has the terminal's own cursor, and none of the keys that reach for the clipboard: that of
// the machine it runs on is not the person's.
func newArea() textarea.Model {
	a := textarea.New()
	a.Prompt, a.ShowLineNumbers, a.CharLimit, a.MaxHeight = "", false, hitchpost.MaxNote, 0
	a.SetVirtualCursor(false)
	plain := lipgloss.NewStyle()
	style := textarea.StyleState{
		Base: plain, Text: plain, LineNumber: plain, CursorLineNumber: plain, CursorLine: plain, EndOfBuffer: plain,
		Placeholder: plain, Prompt: plain, Selection: plain,
	}
	a.SetStyles(textarea.Styles{Focused: style, Blurred: style})
	none := key.NewBinding()
	k := &a.KeyMap
	k.Paste, k.CopySelection, k.SelectAll = none, none, none
	k.SelectCharacterForward, k.SelectCharacterBackward, k.SelectLineUp, k.SelectLineDown = none, none, none, none
	k.SelectWordForward, k.SelectWordBackward = none, none
	k.InsertNewline.SetKeys("enter", "ctrl+j")
	a.Focus()
	return a
}

// put has the area hold text, and reports whether it does: one that is too long for it, or holds what it drops, would be
// another one when it is saved.
func (e *noteEdit) put(text string) bool {
	text = strings.ReplaceAll(text, "\t", "    ") // as the area does
	e.area.SetValue(text)
	e.area.MoveToBegin()
	e.start = e.area.Value()
	return e.start == text
}

// propose puts text into the empty area, for the person to change.
func (e *noteEdit) propose(text string) {
	e.area.SetValue(text)
	e.area.MoveToBegin()
	e.proposed = e.area.Value()
}

func (e *noteEdit) paste(text string) {
	if !e.busy {
		e.area.InsertString(fitForNote(text))
	}
}

// fitForNote is text without what a note may not hold.
func fitForNote(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r\n", "\n"))
}

// blank reports whether there is room for a proposal.
func (e *noteEdit) blank() bool { return strings.TrimSpace(e.area.Value()) == "" }

// edited reports whether the person has changed anything.
func (e *noteEdit) edited() bool {
	v := e.area.Value()
	return v != e.start && (e.proposed == "" || v != e.proposed)
}

// pressNote types the note.
func (m *model) pressNote(k tea.KeyPressMsg) tea.Cmd {
	e := &m.note
	switch {
	case key.Matches(k, m.keys.drop):
		m.leaveNote() // what is being saved goes on
	case e.busy:
	case key.Matches(k, m.keys.cancel) && !e.edited():
		m.leaveNote()
	case key.Matches(k, m.keys.cancel), key.Matches(k, m.keys.save):
		return m.saveNote()
	case key.Matches(k, m.keys.template) && e.blank():
		e.propose(hitchpost.NoteTemplate())
	case key.Matches(k, m.keys.draft) && e.blank() && m.drafts():
		e.propose(hitchpost.DraftNote(m.card.card))
	default:
		e.area, _ = e.area.Update(k) // it has no cursor that blinks, so there is nothing to run
	}
	return nil
}

// leaveNote goes back to where the note was opened.
func (m *model) leaveNote() {
	if m.mode = m.note.back; m.mode == modeList {
		m.card.endLook()
	}
}

// drafts reports whether there are facts to draft a note from.
func (m *model) drafts() bool { return m.card.id == m.note.of.ID && m.card.found }

// saveNote saves what stands in the area in place of the note that it was written from, and of no other.
func (m *model) saveNote() tea.Cmd {
	e := &m.note
	text := e.area.Value()
	if err := hitchpost.CheckNote(text); err != nil {
		m.complain(failure(err))
		return nil
	}
	if text == e.start {
		m.leaveNote()
		return nil
	}
	if !m.allowed(e.of) {
		return nil
	}
	e.busy = true
	return tea.Batch(m.tasks.act(actLimit, m.noteWriter(text)), m.begin(e.of.ID, underWay(verbNote, e.of.Handle)))
}

// noteWriter is the work of saving text.
func (m *model) noteWriter(text string) func(ctx context.Context) tea.Msg {
	of, loaded := m.note.of, m.note.loaded
	return func(ctx context.Context) tea.Msg {
		got, err := m.service.Note(ctx, m.actor, of.ID, hitchpost.NoteRequest{Text: text, Expect: &loaded})
		return noteSaved{of, got, err}
	}
}

// noteSaved leaves the page of a note that is saved; where another has changed it, both are shown.
func (m *model) noteSaved(n noteSaved) tea.Cmd {
	m.work.end(n.of.ID)
	e := &m.note
	here := m.mode == modeNote && e.of.ID == n.of.ID && e.busy
	if here {
		e.busy = false
	}
	switch {
	case n.err == nil:
		if here {
			m.leaveNote()
		}
		m.tell(done(verbNote, n.got))
		return m.tasks.read(0, func(context.Context) tea.Msg { return m.take() })
	case here && changedMeanwhile(n.err):
		e.theirs, e.top, m.mode = n.got.Note, 0, modeClash
	default:
		m.complain(failure(n.err))
	}
	return nil
}

// changedMeanwhile reports whether a note was not written since it was not the one expected.
func changedMeanwhile(err error) bool {
	var e *hitchpost.Error
	return errors.As(err, &e) && e.Kind == hitchpost.ConflictError && e.Field == "note"
}

// pressClash chooses between two notes. Nothing of either is gone before the person has chosen.
func (m *model) pressClash(k tea.KeyPressMsg) tea.Cmd {
	e := &m.note
	switch {
	case key.Matches(k, m.keys.theirs):
		m.leaveNote()
	case key.Matches(k, m.keys.mine):
		e.rebase(e.theirs)
		m.mode = modeNote
		return m.saveNote()
	case key.Matches(k, m.keys.both):
		mine := e.area.Value()
		e.rebase(e.theirs)
		e.area.SetValue(strings.TrimRight(e.theirs, "\n") + "\n\n" + mine)
		m.mode = modeNote
	case key.Matches(k, m.keys.cancel), key.Matches(k, m.keys.leave):
		m.mode = modeNote
	default:
		m.scroll(k, &e.top)
	}
	return nil
}

// rebase has what stands in the area count as written from note.
func (e *noteEdit) rebase(note string) {
	e.loaded, e.start, e.proposed = note, strings.ReplaceAll(note, "\t", "    "), ""
}

// rescueNote saves what was typed where the picker ends before the page was left, as when a connection drops.
func (m *model) rescueNote() {
	if e := &m.note; (m.mode == modeNote && !e.busy || m.mode == modeClash) && e.edited() &&
		hitchpost.CheckNote(e.area.Value()) == nil {
		_ = m.tasks.act(actLimit, m.noteWriter(e.area.Value())) // there is nobody left to tell
	}
}

// notePage is the area in at most n lines of w columns.
func (m *model) notePage(w, n int) block {
	var b block
	e := &m.note
	title := wordNotePage
	switch {
	case m.session(e.of).Note != e.loaded:
		title = wordNoteMoved
	case e.proposed != "" && e.area.Value() == e.proposed:
		title = wordNoteProposed
	}
	if n > 3 {
		b.add(m.theme.name.Render(fit(title, w)))
	}
	rows := max(n-len(b.lines), 1)
	e.area.SetWidth(max(w, 1))
	e.area.SetHeight(rows)
	above := len(b.lines)
	for i, text := range strings.Split(ansi.Strip(e.area.View()), "\n") {
		if i == rows {
			break
		}
		b.add(fit(clean(strings.TrimRight(text, " ")), w))
	}
	if c := e.area.Cursor(); c != nil && !e.busy {
		b.cursor = cursorAt(min(e.column(), w-1), above+c.Y)
	}
	return b
}

// column is the one in which the cursor stands, by the renderer's measure.
func (e *noteEdit) column() int {
	info := e.area.LineInfo()
	lines := strings.Split(e.area.Value(), "\n")
	if row := e.area.Line(); row < len(lines) {
		runes := []rune(lines[row])
		from := min(info.StartColumn, len(runes))
		return width(clean(string(runes[from:min(from+info.ColumnOffset, len(runes))])))
	}
	return 0
}

// clashBody is both notes in at most n lines of w columns.
func (m *model) clashBody(w, n int) []string {
	e := &m.note
	parts := []section{
		{title: wordTheirs, lines: noteLines(e.theirs)}, {title: wordMine, lines: noteLines(e.area.Value()), aside: true},
	}
	return scrolled(m.drawSections(parts, w), &e.top, n)
}

func (m *model) noteKeys() []key.Binding {
	k, e := m.keys, &m.note
	var keys []key.Binding
	switch {
	case e.busy:
		return []key.Binding{renamed(k.drop, doesBack)}
	case e.edited():
		keys = append(keys, renamed(k.cancel, doesSave), k.drop)
	case e.area.Value() != e.start: // a proposal as it was made
		keys = append(keys, k.save, renamed(k.cancel, doesDrop))
	default:
		keys = append(keys, k.cancel)
	}
	if e.blank() {
		keys = append(keys, k.template)
		if m.drafts() {
			keys = append(keys, k.draft)
		}
	}
	return keys
}

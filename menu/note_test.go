package menu

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

const docsID = "0190a1b2-0003"

// noted is a team whose session docs has a note.
func noted(note string) *fake {
	f := newFake(team()...)
	f.sessions[2].Note = note
	return f
}

// onNote is a model at rest that writes the note of docs, with its card in hand.
func onNote(t testing.TB, size hitchpost.Size, note, keys string) *model {
	t.Helper()
	m := still(t, noted(note), size, func(c *Config) { c.Selected = docsID })
	m.typed("e")
	c := cardOf("docs", nil)
	m.handle(cardFound{m.card.gen, c, nil})
	m.typed(keys)
	return m
}

func TestNoteFrames(t *testing.T) {
	t.Parallel()
	long := "# Goal\n\ndescribe the retry, with 日本語 and emoji 👩‍👩‍👧 in it, in a line that is longer than a phone is wide\n" +
		strings.Repeat("- a line\n", 50)
	for name, c := range map[string]struct{ note, keys string }{
		"empty":    {"", ""},
		"template": {"", "\x14"},
		"draft":    {"", "\x0f"},
		"text":     {"# Goal\n\n\tindented", "new "},
		"long":     {long, "<pgdn>"},
	} {
		for _, size := range sizes {
			name := fmt.Sprintf("note-%s-%dx%d", name, size.Cols, size.Rows)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				golden(t, name, draw(t, onNote(t, size, c.note, c.keys)))
			})
		}
	}
	for _, size := range sizes {
		name := fmt.Sprintf("note-clash-%dx%d", size.Cols, size.Rows)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := onNote(t, size, "as it was", "mine\r")
			m.note.busy = true
			theirs := team()[2]
			theirs.Note = "written by the agent:\n\n- the docs of the retry are done\n\x1b[2J"
			m.handle(noteSaved{theirs, theirs, hitchpost.Errorf(hitchpost.ConflictError, "changed").For("note")})
			golden(t, name, draw(t, m))
		})
	}
}

// TestNoteIsSavedWhenItIsLeft types notes and leaves in each way.
func TestNoteIsSavedWhenItIsLeft(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, note, keys, want string }{
		{"typed", "", "two\rlines<esc>", "note " + docsID + ` "two\nlines"`},
		{"changed", "was there", "it <esc>", "note " + docsID + ` "it was there"`},
		{"cleared", "x", "\x1b[3~<esc>", "note " + docsID + ` ""`},
		{"not changed", "\ttabs\n", "<down><up><esc>", ""},
		{"typed and taken back", "", "x<back><esc>", ""},
		{"dropped", "was there", "it <ctrl-c>", ""},
		{"only proposed", "", "\x14<esc>", ""},
		{"proposed and kept", "", "\x14\x13", fmt.Sprintf("note %s %q", docsID, hitchpost.NoteTemplate())},
		{"proposed and changed", "", "\x14x<esc>", fmt.Sprintf("note %s %q", docsID, "x"+hitchpost.NoteTemplate())},
		{"no proposal over a text", "x", "\x14\x0f<esc>", ""},
		{"pasted", "", "\x1b[200~a\r\nb\x1b[31m\u202ec\x1b[201~<esc>", "note " + docsID + ` "a\nb[31mc"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := noted(c.note)
			s := sit(t, f, func(cfg *Config) { cfg.Selected = docsID })
			s.hand.press("e")
			s.see(wordNotePage)
			s.hand.press(c.keys)
			if c.want != "" {
				s.see("the note of docs is saved")
			}
			s.notSee(wordNotePage)
			if got := f.called(); got != c.want {
				t.Errorf("asked %q, want %q", got, c.want)
			}
		})
	}
}

// TestADraftIsProposedFromTheCard waits for the facts, has them drafted, and keeps what it made of them.
func TestADraftIsProposedFromTheCard(t *testing.T) {
	t.Parallel()
	f := noted("")
	s := sit(t, f, func(c *Config) { c.Selected = docsID })
	s.hand.press("e")
	s.see("ctrl-o draft from facts")
	s.hand.press("\x0f")
	s.see("not yet read by a person")
	s.see(wordNoteProposed)
	s.hand.press("read: \x13")
	s.asked(`note ` + docsID + ` "read: (proposed from facts at 2026-03-14 09:26Z, not yet read by a person)\n\n## Goal\n`)
}

// TestTwoNotesAreBothShown has somebody else write while the person does. Neither text is gone before the person chooses.
func TestTwoNotesAreBothShown(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"t": "theirs", "m": "mine was", "b": "theirs\n\nmine was", "<esc>": "mine was",
	} {
		f := noted("was")
		s := sit(t, f, func(c *Config) { c.Selected = docsID })
		s.hand.press("emine ")
		s.see("mine was")
		f.set(func(f *fake) { f.sessions[2].Note = "theirs" })
		s.see(wordNoteMoved)
		s.hand.press("<esc>")
		s.see(wordTheirs)
		s.see(wordMine)
		s.see("theirs")
		s.see("mine was")
		s.hand.press(keys)
		switch keys {
		case "b":
			s.see(wordNotePage)
			s.hand.press("\x13")
			s.see("is saved")
		case "<esc>":
			s.see("esc save")
			s.hand.press("<esc>") // it is refused and shown again
			s.see(wordTheirs)
			s.hand.press("m")
			s.see("is saved")
		case "m":
			s.see("is saved")
		default:
			s.see("enter attach")
		}
		sessions, _ := f.Snapshot()
		if got := sessions[2].Note; got != want {
			t.Errorf("%q: the note is %q, want %q", keys, got, want)
		}
	}
}

// TestWhatWasTypedIsSavedWhereTheConnectionDrops ends the input in the middle of a note.
func TestWhatWasTypedIsSavedWhereTheConnectionDrops(t *testing.T) {
	t.Parallel()
	f := noted("was")
	s := sit(t, f, func(c *Config) { c.Selected = docsID })
	s.hand.press("ehalf a sent")
	s.see("half a sentwas")
	s.hand.hangUp()
	_, _ = s.left()
	if got := f.called(); got != "note "+docsID+` "half a sentwas"` {
		t.Errorf("asked %q", got)
	}
	f = noted("was")
	s = sit(t, f, func(c *Config) { c.Selected = docsID })
	s.hand.press("e")
	s.see(wordNotePage)
	s.hand.hangUp()
	_, _ = s.left()
	if got := f.called(); got != "" {
		t.Errorf("for a note that was only read it asked %q", got)
	}
}

// TestANoteThatTheAreaWouldChangeIsNotEdited opens notes that are more than the area can hold.
func TestANoteThatTheAreaWouldChangeIsNotEdited(t *testing.T) {
	t.Parallel()
	for name, note := range map[string]string{
		"lines": strings.Repeat("\n", 30_000), "tabs": strings.Repeat("\t", 60_000), "controls": "a\x1b[2Jb",
	} {
		m := still(t, noted(note), sizes[1], func(c *Config) { c.Selected = docsID })
		m.typed("e")
		if m.mode != modeList || !strings.Contains(draw(t, m), "read and write it with the verb note") {
			t.Errorf("%s: mode %d\n%s", name, m.mode, draw(t, m))
		}
	}
	m := still(t, noted(strings.Repeat("é ", hitchpost.MaxNote/3)), sizes[1], func(c *Config) { c.Selected = docsID })
	m.typed("e")
	if m.mode != modeNote {
		t.Error("a long note is not edited")
	}
	m.handle(tea.PasteMsg{Content: strings.Repeat("é", hitchpost.MaxNote)})
	m.typed("<esc>")
	if m.mode != modeNote || !strings.Contains(draw(t, m), "no longer than 65536 bytes") {
		t.Errorf("a note that is too long: mode %d\n%s", m.mode, draw(t, m))
	}
}

// BenchmarkNoteKey is one key in the longest note, up to the finished frame.
func BenchmarkNoteKey(b *testing.B) {
	for name, note := range map[string]string{
		"short": strings.Repeat("- a line of a note\n", 40),
		"long":  strings.Repeat("- a line of a note that has some words in it\n", hitchpost.MaxNote/46),
	} {
		b.Run(name, func(b *testing.B) {
			m := onNote(b, desk, note, "")
			keys := decodeKeys("x<back>")
			for b.Loop() {
				for _, k := range keys {
					m.handle(k)
					m.frame()
				}
			}
		})
	}
}

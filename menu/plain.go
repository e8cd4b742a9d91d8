package menu

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// wantsPlain reports whether the client asked for a picker that draws nothing, for screen readers and for terminals
// that cannot do much.
func wantsPlain(environ []string) bool { return slices.Contains(environ, "HITCHPOST_PLAIN=1") }

// plainList is the picker without drawing: lines from top to bottom and not one escape sequence. The list is printed
// with numbers, and the person types a number or a handle.
type plainList struct {
	c      Config
	keys   keyMap
	shown  []hitchpost.Session // as numbered on the screen
	typing field
	choice *Choice
	err    error // of Out
}

// runPlain is Run without drawing.
func runPlain(ctx context.Context, c Config) (Choice, error) {
	p := &plainList{c: c, keys: newKeys()}
	if c.Notice != "" {
		p.say(clean(c.Notice))
	}
	p.list()
	k := keyboard{in: c.In, log: c.Log, deliver: func(ev tea.Msg) (used, ended bool) {
		p.take(ev)
		return true, p.choice != nil || p.err != nil
	}}
	err := k.run(ctx.Done())
	switch {
	case p.choice != nil:
		return *p.choice, nil
	case context.Cause(ctx) != nil:
		return Choice{}, context.Cause(ctx)
	}
	return Choice{}, errors.Join(err, p.err)
}

// take is one event from the keyboard. There is no kernel that would echo it.
func (p *plainList) take(ev tea.Msg) {
	switch ev := ev.(type) {
	case tea.PasteMsg:
		p.edit(func() { p.typing.insert(ev.Content) })
	case tea.KeyPressMsg:
		switch {
		case key.Matches(ev, p.keys.submit):
			p.say("")
			p.enter(strings.TrimSpace(p.typing.value()))
		case ev.String() == "ctrl+c", ev.String() == "ctrl+d":
			p.say("")
			p.choice = &Choice{}
		case key.Matches(ev, p.keys.field.back):
			p.edit(func() { p.typing.press(ev, p.keys.field) })
		case ev.Text != "":
			p.edit(func() { p.typing.insert(ev.Text) })
		}
	}
}

// edit changes the line and shows the change: what is gone is rubbed out, what is new is printed.
func (p *plainList) edit(change func()) {
	before := clean(p.typing.value())
	change()
	after := clean(p.typing.value())
	if more, ok := strings.CutPrefix(after, before); ok {
		p.print(more)
		return
	}
	p.print(strings.Repeat("\b \b", width(before)-width(after)))
}

// enter is what a finished line means.
func (p *plainList) enter(line string) {
	p.typing = newField("", plainMost)
	switch line {
	case "":
		p.list()
		return
	case "q":
		p.choice = &Choice{}
		return
	}
	s, ok := p.find(line)
	switch {
	case !ok:
		p.say(plainUnknown(line))
	case s.State.Live():
		p.choice = &Choice{Attach: s.ID}
		return
	case s.State.Ended():
		p.say(plainEnded(s))
	default:
		p.say(notYet(s))
	}
	p.print(plainPrompt)
}

// plainMost is the longest line, in bytes.
const plainMost = 200

// find is the session of a number on the screen, as it is now, or of a handle.
func (p *plainList) find(line string) (hitchpost.Session, bool) {
	now, _ := p.c.Service.Snapshot()
	same := func(s hitchpost.Session) bool { return s.Handle == line && s.Open() }
	if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(p.shown) {
		same = func(s hitchpost.Session) bool { return s.ID == p.shown[n-1].ID && s.Open() }
	}
	if i := slices.IndexFunc(now, same); i >= 0 {
		return now[i], true
	}
	return hitchpost.Session{}, false
}

// list prints the sessions, those first that need a person.
func (p *plainList) list() {
	p.typing = newField("", plainMost)
	sessions, status := p.c.Service.Snapshot()
	var l list
	l.put(sessions, p.c.Now())
	p.shown = l.shown
	p.say(wordProduct + ": " + tally(len(l.all), len(l.all), l.needed, ""))
	if line := trouble(status, p.c.Now()); line != "" {
		p.say(line)
	}
	handle, number := 0, len(strconv.Itoa(len(p.shown)))
	for _, s := range p.shown {
		handle = max(handle, min(width(clean(s.Handle)), 32))
	}
	cols := sized(p.c.Terminal.Size).Cols
	for i, s := range p.shown {
		state := stateWord(s.State, false) + " " + age(s.StateSince, p.c.Now())
		text := fmt.Sprintf("%*d  %s  %s", number, i+1, fit(clean(s.Handle), handle), fit(state, 17+1+ageWidth))
		for _, more := range []string{waitsFor(s), clean(place(s, p.c.Home)), clean(s.Node), clean(s.Project), clean(s.Title)} {
			if more != "" {
				text += "  " + more
			}
		}
		p.say(strings.TrimRight(cut(text, max(cols-1, 1)), " "))
	}
	p.say(plainHelp)
	p.print(plainPrompt)
}

func (p *plainList) say(line string) { p.print(line + "\n") }

func (p *plainList) print(text string) {
	if _, err := io.WriteString(p.c.Out, text); err != nil && p.err == nil {
		p.err = err
	}
}

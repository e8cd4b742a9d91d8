package menu

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// block is some whole lines of the frame, with a text cursor in it or none.
type block struct {
	lines  []string
	cursor *tea.Cursor // relative to the block
}

func (b *block) add(lines ...string) { b.lines = append(b.lines, lines...) }

// put adds a line that holds a text field, with the cursor in column x.
func (b *block) put(line string, x int) {
	b.cursor = cursorAt(x, len(b.lines))
	b.add(line)
}

// cursorAt is the terminal's own cursor: shape -1 without blinking encodes as 0, for which the renderer writes no
// DECSCUSR, and so leaves the shape that the person has chosen.
func cursorAt(x, y int) *tea.Cursor {
	c := tea.NewCursor(x, y)
	c.Shape, c.Blink = -1, false
	return c
}

// frame is the whole screen: a block at the top, one at the bottom, and between them what the mode shows. Every line
// fits the width and the lines fit the height, whatever the size.
func (m *model) frame() (string, *tea.Cursor) {
	w, h := m.size.Cols, m.size.Rows
	if w < 1 || h < 1 {
		return "", nil
	}
	top, bottom := m.top(w, h), m.bottom(w, h)
	body := m.body(w, h-len(top)-len(bottom.lines))
	lines := append(top, body.lines...)
	cursor := body.cursor
	if cursor != nil {
		cursor.Y += len(top)
	}
	if bottom.cursor != nil {
		cursor = bottom.cursor
		cursor.Y += len(lines)
	}
	lines = append(lines, bottom.lines...)
	if m.choice != nil || cursor != nil && (cursor.Y >= h || cursor.X >= w) {
		cursor = nil
	}
	return strings.Join(lines[:min(len(lines), h)], "\n"), cursor
}

// rows is how many rows of the list are visible.
func (m *model) rows() int {
	w, h := m.size.Cols, m.size.Rows
	n := h - len(m.top(w, h)) - len(m.bottom(w, h).lines)
	if roomy(h) {
		n-- // the headings
	}
	return max(n, 1)
}

// roomy reports whether the height allows for lines that only help to read.
func roomy(h int) bool { return h >= 8 }

// top is the line with the name, the counts and who looks.
func (m *model) top(w, h int) []string {
	if h < 5 {
		return nil
	}
	text := tally(len(m.list.all), len(m.list.shown), m.list.needed, clean(m.list.query))
	if about := m.pageTitle(); about != "" {
		text = about
	}
	who := ""
	if !m.mayDrive() {
		who = wordReadOnly
	}
	room := w - len(wordProduct) - gap
	if who != "" {
		room -= len(who) + gap
	}
	if room < 10 {
		return []string{m.theme.name.Render(fit(wordProduct, w))}
	}
	line := m.theme.name.Render(wordProduct) + strings.Repeat(" ", gap) + fit(text, room)
	if who != "" {
		line += strings.Repeat(" ", gap) + m.theme.faint.Render(who)
	}
	if !roomy(h) {
		return []string{line}
	}
	return []string{line, ""}
}

// body is exactly n lines.
func (m *model) body(w, n int) block {
	if n <= 0 {
		return block{}
	}
	var b block
	switch {
	case m.mode == modeHelp:
		b.add(m.helpPage(w, n)...)
	case m.mode == modeForm:
		b = m.formPage(w, n)
	case m.mode == modeCard:
		b.add(m.cardBody(w, n)...)
	case m.mode == modeBrief:
		b.add(m.briefBody(w, n)...)
	case m.mode == modeNote:
		b = m.notePage(w, n)
	case m.mode == modeClash:
		b.add(m.clashBody(w, n)...)
	case m.wide():
		pane := min(w*2/5, 100)
		left, right := m.listPage(w-pane-3, n), m.pane(pane, n)
		bar := m.theme.faint.Render(" │ ")
		for i := range n {
			b.add(left[i] + bar + right[i])
		}
	default:
		b.add(m.listPage(w, n)...)
	}
	for len(b.lines) < n {
		b.add("")
	}
	b.lines = b.lines[:n]
	return b
}

// listPage is the list in exactly n lines of w columns.
func (m *model) listPage(w, n int) []string {
	var lines []string
	p := plan(w, m.list.natural)
	if roomy(m.size.Rows) && len(m.list.shown) > 0 {
		lines = append(lines, m.theme.faint.Render(headings(w, p)))
	}
	for _, s := range m.list.window(n - len(lines)) {
		lines = append(lines, m.row(s, w, p, s.ID == m.list.id))
	}
	if len(m.list.shown) == 0 {
		for _, text := range m.emptiness() {
			for _, line := range wrap(text, w-gutter, 3) {
				lines = append(lines, fit("  "+line, w))
			}
		}
	}
	for len(lines) < n {
		lines = append(lines, strings.Repeat(" ", w))
	}
	return lines[:n]
}

// emptiness says why the list is empty, and what to do.
func (m *model) emptiness() []string {
	switch {
	case m.list.query != "":
		return []string{wordNotFound + " " + clean(m.list.query), wordNotFoundEnd}
	case away(m.status):
		return []string{wordNotKnown}
	case !m.mayDrive():
		return []string{wordEmpty, wordEmptyViewer}
	default:
		return []string{wordEmpty, wordEmptyNext}
	}
}

// pane is the selected session, beside the list: its properties, then its screen.
func (m *model) pane(w, n int) []string {
	var lines []string
	s, ok := m.list.selected()
	if ok {
		lines = m.facts(s, w)
		lines = append(lines, m.theme.faint.Render(fit(m.screenTitle(s), w)))
		lines = append(lines, m.screenLines(s, w, n-len(lines))...)
	}
	for len(lines) < n {
		lines = append(lines, strings.Repeat(" ", w))
	}
	return lines[:n]
}

func (m *model) facts(s hitchpost.Session, w int) []string {
	lines := []string{
		m.theme.name.Render(fit(clean(s.Title), w)),
		fit(clean(strings.TrimRight(strings.Join([]string{s.Handle, string(s.Kind), s.Node, s.Project}, "  "), " ")), w),
		fit(cutLeft(clean(s.Cwd), w), w),
	}
	if s.Kind != hitchpost.Shell && len(s.Args) > 0 {
		lines = append(lines, fit(what(s), w))
	}
	for _, line := range wrap(story(s, m.now), w, 2) {
		lines = append(lines, m.theme.states[s.State].Render(fit(line, w)))
	}
	if len(s.Clash) > 0 {
		for _, line := range wrap(clashes(s), w, 3) {
			lines = append(lines, m.theme.problem.Render(fit(line, w)))
		}
	}
	for _, text := range agentStory(s) {
		for _, line := range wrap(text, w, 3) {
			lines = append(lines, fit(line, w))
		}
	}
	return append(lines, strings.Repeat(" ", w))
}

// screenTitle is the heading of the session's screen, which tells its age where it is not of now.
func (m *model) screenTitle(s hitchpost.Session) string {
	if m.preview.id != s.ID || m.preview.at.IsZero() {
		return wordScreen
	}
	return wordLastScreen + ", " + age(m.preview.at, m.now)
}

// screenLines is the lower end of the session's screen in at most n lines; what is new stands there.
func (m *model) screenLines(s hitchpost.Session, w, n int) []string {
	if n <= 0 {
		return nil
	}
	switch {
	case m.preview.id != s.ID:
		return []string{m.theme.faint.Render(fit(wordLoading+ellipsis, w))}
	case m.preview.err != "":
		var lines []string
		for _, line := range wrap(wordNoScreen+": "+m.preview.err, w, 3) {
			lines = append(lines, m.theme.faint.Render(fit(line, w)))
		}
		return lines
	}
	from := max(len(m.preview.lines)-n, 0)
	lines := make([]string, 0, n)
	for _, line := range m.preview.lines[from:] {
		lines = append(lines, paint(line, w))
	}
	return lines
}

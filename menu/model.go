package menu

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitchpost/hitchpost"
)

// mode is what the keys mean at the moment.
type mode int

const (
	modeList   mode = iota
	modeFilter      // typing the filter
	modeHelp
	modeAsk    // a question is open
	modeRename // typing a title
	modeForm   // the form for a new session
	modeCard   // the card of a session
	modeBrief  // what a restart with the note would say
	modeNote   // writing a note
	modeClash  // of a note that another has changed meanwhile
)

// model is the one Bubble Tea model; its parts are plain structs. Update does no I/O: what may take time is a command
// of tasks. It is used from the program's goroutine only.
type model struct {
	actor   hitchpost.Actor
	service Service
	watch   <-chan struct{}
	clock   func() time.Time
	tasks   *tasks
	keys    keyMap
	theme   theme

	size   hitchpost.Size
	now    time.Time // of the last message
	list   list
	status hitchpost.Status
	seen   time.Time // when the list was last taken

	mode    mode
	typing  field // filter or title
	subject hitchpost.Session
	asked   question
	form    form
	helpTop int
	toast   toast
	work    work
	preview preview
	card    cardPage
	brief   brief
	note    noteEdit

	choice *Choice // set once, when the picker ends
	err    error   // why it ended without a choice
}

// verdict is what became of an event that the keyboard delivered.
type verdict struct{ used, ended bool }

// The messages of the picker.
type (
	// delivered is an event from the keyboard. verdict takes exactly one value and never blocks.
	delivered struct {
		event   tea.Msg
		verdict chan<- verdict
	}
	snapshot struct {
		sessions []hitchpost.Session
		status   hitchpost.Status
	}
	followed struct{ snapshot } // a snapshot after a wake-up
	tick     struct{}
	hungUp   struct{ err error } // the input ended
)

const (
	tickEvery   = time.Second
	rereadEvery = 5 * time.Second        // the list is taken again without a wake-up too: wake-ups may get lost
	followPause = 100 * time.Millisecond // between two snapshots, however often the list changes
)

func (m *model) Init() tea.Cmd {
	return tea.Batch(m.follow(), m.tasks.after(tickEvery, tick{}), m.settle())
}

// follow waits for the next change of the list.
func (m *model) follow() tea.Cmd {
	return m.tasks.read(0, func(ctx context.Context) tea.Msg {
		if !pause(ctx, followPause) {
			return nil
		}
		select {
		case _, ok := <-m.watch:
			if !ok {
				return nil // the tick goes on
			}
		case <-ctx.Done():
			return nil
		}
		return followed{m.take()}
	})
}

func (m *model) take() snapshot {
	sessions, status := m.service.Snapshot()
	return snapshot{sessions, status}
}

func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if d, ok := msg.(delivered); ok {
		if m.choice != nil || m.err != nil {
			d.verdict <- verdict{used: false, ended: true}
			return m, nil
		}
		cmd := m.handle(d.event)
		d.verdict <- verdict{used: true, ended: m.choice != nil}
		return m, cmd
	}
	if m.choice != nil || m.err != nil {
		return m, nil
	}
	return m, m.handle(msg)
}

func (m *model) handle(msg tea.Msg) tea.Cmd {
	m.now = m.clock()
	before := m.list.id
	cmd := m.dispatch(msg)
	if m.list.id != before {
		return tea.Batch(cmd, m.settle())
	}
	return cmd
}

func (m *model) dispatch(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return m.press(msg)
	case tea.PasteMsg:
		m.paste(msg.Content)
	case tea.WindowSizeMsg:
		m.size = hitchpost.Size{Cols: msg.Width, Rows: msg.Height}
		return m.settle()
	case snapshot:
		m.put(msg)
	case followed:
		m.put(msg.snapshot)
		return m.follow()
	case tick:
		return m.tick()
	case acted:
		return m.acted(msg)
	case spin:
		return m.spin()
	case settled:
		return m.look(msg.id)
	case captured:
		m.preview.take(msg)
		if m.preview.id != m.list.id { // the selection moved on meanwhile
			return m.look(m.list.id)
		}
	case completed:
		m.form.completed(msg)
	case cardShown:
		return m.cardShown(msg)
	case cardFound:
		m.cardFound(msg)
	case noteSaved:
		return m.noteSaved(msg)
	case crashed:
		m.complain(failure(msg.err))
	case hungUp:
		m.err = msg.err
		return tea.Quit
	}
	return nil
}

func (m *model) put(s snapshot) {
	m.list.put(s.sessions, m.now)
	m.status, m.seen = s.status, m.now
}

// tick brings ages, toasts and the preview up to date.
func (m *model) tick() tea.Cmd {
	m.toast.expire(m.now)
	cmds := []tea.Cmd{m.tasks.after(tickEvery, tick{}), m.refresh(), m.freshenCard()}
	if m.now.Sub(m.seen) >= rereadEvery {
		m.seen = m.now
		cmds = append(cmds, m.tasks.read(0, func(context.Context) tea.Msg { return m.take() }))
	}
	return tea.Batch(cmds...)
}

// press gives a key to the part that has the keys.
func (m *model) press(k tea.KeyPressMsg) tea.Cmd {
	switch m.mode {
	case modeFilter:
		return m.pressFilter(k)
	case modeHelp:
		return m.pressHelp(k)
	case modeAsk:
		return m.pressAsk(k)
	case modeRename:
		return m.pressRename(k)
	case modeForm:
		return m.pressForm(k)
	case modeCard:
		return m.pressCard(k)
	case modeBrief:
		return m.pressBrief(k)
	case modeNote:
		return m.pressNote(k)
	case modeClash:
		return m.pressClash(k)
	default:
		return m.pressList(k)
	}
}

// paste types into the field that has the keys; in the list a paste means nothing.
func (m *model) paste(text string) {
	switch m.mode {
	case modeFilter:
		m.typing.insert(text)
		m.list.filter(m.typing.value())
	case modeRename:
		m.typing.insert(text)
	case modeForm:
		m.form.paste(text)
	case modeNote:
		m.note.paste(text)
	}
}

// end ends the picker with the session to attach to, or with none.
func (m *model) end(attach string) tea.Cmd {
	m.choice = &Choice{Attach: attach}
	return tea.Quit
}

func (m *model) mayDrive() bool { return m.actor.May(hitchpost.Drive) }

func (m *model) View() tea.View {
	content, cursor := m.frame()
	v := tea.NewView(content)
	v.AltScreen = true
	v.Cursor = cursor
	return v
}

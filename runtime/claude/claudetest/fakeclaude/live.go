package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

// program is a session from its start to its end. Its loop alone reads keys and starts turns; a turn runs beside it.
type program struct {
	config, dir string
	settings    settings
	hooks       hooks
	screen      screen
	mode, name  string
	source      string // how the conversation came: startup, resume, fork
	picking     bool   // no conversation yet, and nobody to choose one
	parent      any    // the uuid of the transcript's last line

	mu      sync.Mutex
	entry   entry
	id      string // of the conversation
	path    string // of its transcript
	title   string
	prompts []string // of the whole conversation
	groups  map[int]bool
	tasks   []task        // in the background
	dialog  chan<- string // takes the choice while a dialog is open

	wake     chan string // what a background task says at its end
	finished chan struct{}
	cancel   context.CancelFunc // ends the turn under way; nil: none
	queue    []string           // typed during a turn
	keyAt    time.Time          // of the last Ctrl-C or Ctrl-D
}

// live runs the session and returns its exit code.
func (p *program) live(f flags) int {
	if !term.IsTerminal(0) {
		return fail("the stand-in for Claude Code needs a terminal")
	}
	p.groups, p.wake, p.finished = map[int]bool{}, make(chan string, 16), make(chan struct{}, 1)
	p.screen.alternate = p.settings.TUI != "default" && os.Getenv("CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN") == ""
	if err := p.screen.raw(); err != nil {
		return fail(err.Error())
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGCONT)
	keys := make(chan key, 64)
	go readKeys(keys)

	if code, left := p.questions(keys, signals); left {
		p.screen.restore()
		return code
	}
	p.mu.Lock()
	p.entry = entry{Pid: os.Getpid(), SessionID: p.id, Cwd: p.dir, StartedAt: time.Now().UnixMilli(), ProcStart: procStart(),
		Version: version(), Kind: "interactive", Entrypoint: "cli", Name: p.name}
	p.register()
	p.mu.Unlock()
	if !p.picking {
		p.begun(f.prompt)
	} else {
		p.screen.print("Resume session: type to search")
	}
	return p.loop(keys, signals)
}

// questions are the dialogs before a session is one: no hook runs and no entry is there while they are open.
func (p *program) questions(keys <-chan key, signals <-chan os.Signal) (code int, left bool) {
	var asked [][]string
	if !trusted(p.config, p.dir) {
		asked = append(asked, []string{"Accessing workspace:", p.dir, "1. Yes, I trust this folder", "2. No, exit"})
	}
	if len(p.settings.unknown) > 0 {
		asked = append(asked, []string{"Settings Warning", "Unknown hook event " + strings.Join(p.settings.unknown, ", "),
			"1. Continue", "2. Exit and fix manually"})
	}
	for _, lines := range asked {
		p.screen.print(strings.Join(lines, "\n"))
		for answered := false; !answered; {
			select {
			case k, ok := <-keys:
				switch {
				case k.text == "1" || k.name == keyEnter:
					answered = true
				case !ok || k.text == "2" || k.name == keyEsc || k.name == keyInterrupt:
					return 1, true
				}
			case s := <-signals:
				if s != syscall.SIGCONT {
					return codeOf(s), true
				}
			}
		}
	}
	return 0, false
}

// begun is the start of the conversation: what was said before is on the screen again, and the hooks hear of it.
func (p *program) begun(prompt string) {
	if p.name != "" {
		p.title = p.name
	}
	fmt.Printf("\x1b]0;✳ %s\x07", p.title)
	p.screen.print("Claude Code v" + version() + " (stand-in)\n" + p.dir)
	for _, said := range p.prompts {
		p.screen.print("❯ " + said)
	}
	p.status("idle", "")
	p.start(func(context.Context) {
		p.hooks.run("SessionStart", map[string]any{"source": p.source, "model": "claude-opus-5-5"}, p.source)
	})
	if prompt != "" {
		p.queue = append(p.queue, prompt)
	}
}

// start runs work beside the loop until it is over or the loop cancels it.
func (p *program) start(work func(context.Context)) {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() {
		work(ctx)
		p.finished <- struct{}{}
	}()
}

func (p *program) loop(keys <-chan key, signals <-chan os.Signal) int {
	suspended := false
	for {
		listen := keys
		if suspended {
			listen = nil
		}
		select {
		case k, ok := <-listen:
			switch {
			case !ok:
				return p.end(128+int(syscall.SIGHUP), "other")
			case k.name == keySuspend:
				suspended = true
				p.suspend()
			case p.leaves(k):
				return p.end(0, "prompt_input_exit")
			default:
				if p.key(k) {
					return p.end(0, "prompt_input_exit")
				}
			}
		case s := <-signals:
			switch {
			case s != syscall.SIGCONT:
				return p.end(codeOf(s), "other")
			case suspended:
				suspended = false
				_ = p.screen.raw()
				p.screen.print("")
			}
		case <-p.finished:
			p.cancel()
			p.cancel = nil
		case said := <-p.wake:
			p.queue = append(p.queue, said)
		}
		if p.cancel == nil && len(p.queue) > 0 {
			next := p.queue[0]
			p.queue = p.queue[1:]
			p.start(func(ctx context.Context) { p.turn(ctx, next) })
		}
	}
}

// suspend is what Ctrl-Z does: the terminal is given back and the whole process group told to stop. In a group that
// nobody outside could continue the kernel discards that, and only a SIGCONT from somewhere brings the session back.
func (p *program) suspend() {
	p.screen.restore()
	fmt.Print("Claude Code is suspended. Run `fg` to bring it back.\r\n")
	_ = syscall.Kill(0, syscall.SIGTSTP)
}

// leaves reports whether a key ends the session: the second of two Ctrl-C or Ctrl-D in a short time, while nothing runs.
func (p *program) leaves(k key) bool {
	if (k.name != keyInterrupt && k.name != keyEnd) || p.cancel != nil {
		return false
	}
	again := time.Since(p.keyAt) < 800*time.Millisecond
	p.keyAt = time.Now()
	if !again {
		p.screen.print("Press the key again to exit")
	}
	return again
}

// end is the end of the session in order. What tools have started ends with it.
func (p *program) end(code int, reason string) int {
	p.mu.Lock()
	for group := range p.groups {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
	p.mu.Unlock()
	p.unregister()
	if !p.picking {
		p.hooks.run("SessionEnd", map[string]any{"reason": reason}, reason)
	}
	p.screen.restore()
	if reason == "prompt_input_exit" && p.find(p.id) != "" {
		fmt.Println("Resume this session with:\nclaude --resume " + p.id)
	}
	return code
}

// codeOf is the exit code that a signal leads to.
func codeOf(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok && n != syscall.SIGINT {
		return 128 + int(n)
	}
	return 0
}

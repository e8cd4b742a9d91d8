package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
)

func main() { os.Exit(run(os.Args[1:])) }

// run starts a session, and returns only where there is none to start.
func run(args []string) int {
	f, err := parse(args)
	switch {
	case err != nil:
		return fail(err.Error())
	case f.version:
		fmt.Println(version() + " (Claude Code)")
		return 0
	}
	p, err := prepare(f)
	if err != nil {
		return fail(err.Error())
	}
	if problem := p.choose(f); problem != "" {
		return fail(problem)
	}
	return p.live(f)
}

func fail(message string) int {
	fmt.Fprintln(os.Stderr, message)
	return 1
}

// version is the real program's that this one stands in for, or the one in a file beside the program.
func version() string {
	if self, err := os.Executable(); err == nil {
		if text, err := os.ReadFile(self + ".version"); err == nil {
			return strings.TrimSpace(string(text))
		}
	}
	return "2.1.332"
}

// flags are the words of a start.
type flags struct {
	version, fork, latest, noHooks, skip bool
	sessionID, resume, settings          string
	mode, name, prompt                   string
	resuming                             bool
}

// parse takes the words as the real program does; its other flags are unknown here.
func parse(args []string) (flags, error) {
	f := flags{mode: "auto"}
	var ignored string
	values := map[string]*string{
		"--session-id": &f.sessionID, "--resume": &f.resume, "-r": &f.resume, "--settings": &f.settings,
		"--permission-mode": &f.mode, "--name": &f.name, "-n": &f.name, "--append-system-prompt": &ignored, "--model": &ignored,
		"--add-dir": &ignored, "--effort": &ignored,
	}
	switches := map[string]*bool{
		"--version": &f.version, "-v": &f.version, "--fork-session": &f.fork, "--continue": &f.latest, "-c": &f.latest,
		"--bare": &f.noHooks, "--safe-mode": &f.noHooks, "--dangerously-skip-permissions": &f.skip, "--verbose": new(bool),
	}
	for len(args) > 0 {
		word, value, glued := strings.Cut(args[0], "=")
		args = args[1:]
		switch {
		case values[word] != nil:
			if !glued && len(args) > 0 && (word != "--resume" && word != "-r" || !strings.HasPrefix(args[0], "-")) {
				value, args = args[0], args[1:]
			}
			*values[word] = value
			f.resuming = f.resuming || word == "--resume" || word == "-r"
		case switches[word] != nil:
			*switches[word] = true
		case word == "--" && !glued: // what follows is a prompt, whatever it begins with
			if f.prompt == "" && len(args) > 0 {
				f.prompt = args[0]
			}
			args = nil
		case strings.HasPrefix(word, "-"):
			return f, fmt.Errorf("error: unknown option '%s'", word)
		case f.prompt == "":
			f.prompt = word
			if glued {
				f.prompt += "=" + value
			}
		}
	}
	if f.skip {
		f.mode = "bypassPermissions"
	}
	return f, nil
}

// prepare reads what stands on disk.
func prepare(f flags) (*program, error) {
	dir, err := os.Getwd()
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, err
	}
	config := os.Getenv("CLAUDE_CONFIG_DIR")
	if config == "" {
		config = filepath.Join(os.Getenv("HOME"), ".claude")
	}
	s, err := readSettings(f, config, dir)
	if err != nil {
		return nil, err
	}
	p := &program{config: config, dir: dir, settings: s, mode: f.mode, name: f.name}
	p.hooks = hooks{program: p, settings: s}
	return p, nil
}

// choose finds the conversation to begin or to go on with; it returns what is wrong with the words.
func (p *program) choose(f flags) (problem string) {
	going := f.resuming || f.latest
	if f.sessionID != "" {
		switch {
		case uuid.Validate(f.sessionID) != nil:
			return "Error: Invalid session ID. Must be a valid UUID."
		case going && !f.fork:
			return "Error: --session-id with --continue or --resume also needs --fork-session."
		case p.find(f.sessionID) != "":
			return "Error: Session ID " + f.sessionID + " is already in use."
		}
	}
	switch {
	case f.latest:
		if f.resume = p.newest(); f.resume == "" {
			return "No conversation found to continue"
		}
	case f.resuming && uuid.Validate(f.resume) != nil:
		p.picking = true // the picker, which waits for somebody
		return ""
	}
	if !going {
		p.id, p.source = f.sessionID, "startup"
		if p.id == "" {
			p.id = uuid.NewString()
		}
		p.path = p.transcriptPath(p.id)
		return ""
	}
	path := p.find(f.resume)
	if path == "" || !p.take(f.resume, path) {
		p.id, p.path = f.resume, p.transcriptPath(f.resume)
		p.hooks.run("SessionEnd", map[string]any{"reason": "other"}, "other") // the real one does so too
		return "No conversation found with session ID: " + f.resume
	}
	p.source = "resume"
	if f.fork {
		id := f.sessionID
		if id == "" {
			id = uuid.NewString()
		}
		p.copyTo(id)
		p.source = "fork"
	}
	return ""
}

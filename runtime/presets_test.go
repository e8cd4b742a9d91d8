package runtime_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
)

// addPreset puts a preset of the person's own into the data directory, whose program is a script that shows what it was
// started with.
func (r *rig) addPreset(name, preset string) {
	r.t.Helper()
	dir := filepath.Join(r.dir, "presets")
	must(r.t, os.MkdirAll(dir, 0o700))
	script := "#!/bin/sh\necho \"$*\"; echo \"a=$A b=$B preset=$HITCHPOST_PRESET\"; cat \"$FILE\"; exec sleep 1000\n"
	must(r.t, os.WriteFile(filepath.Join(r.dir, "agent"), []byte(script), 0o700))
	must(r.t, os.WriteFile(filepath.Join(dir, "words.txt"), []byte("the file is here"), 0o600))
	must(r.t, os.WriteFile(filepath.Join(dir, name+".json"), []byte(strings.ReplaceAll(preset, "PROGRAM",
		filepath.Join(r.dir, "agent"))), 0o600))
}

const ownPreset = `{"version": 1, "program": "PROGRAM", "start": ["begin", "${session}"], "restart": ["again"],
	"keep_flags": ["--model"], "environment": {"A": "preset", "B": "preset", "FILE": "${folder}/words.txt"},
	"files": ["words.txt"]}`

func (r *rig) displays(id string, want ...string) {
	r.t.Helper()
	var text string
	eventually(r.t, func() bool {
		raw, err := r.captured(admin, id, hitchpost.CaptureRequest{})
		text = strings.ReplaceAll(string(raw), "\n", "")
		for _, w := range want {
			if err != nil || !strings.Contains(text, w) {
				return false
			}
		}
		return true
	}, func() string { return strings.Join(want, ", ") + " in " + text })
}

// A session with a preset runs what the preset says, with the person's words and variables, and a Restart what it says
// for that, without the prompt.
func TestStartAndRestartWithAPreset(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addPreset("mine", ownPreset)
	res, err := r.Start(t.Context(), admin, hitchpost.StartRequest{
		Preset: "mine", Args: []string{"--model", "m", "fix it"}, Env: []string{"B=person"},
	})
	must(t, err)
	id := res.Session.ID
	if s := res.Session; s.Kind != hitchpost.Command || !strings.HasPrefix(s.Title, "mine ") || len(s.Args) != 6 ||
		s.RestartCommand == "" {
		t.Errorf("%+v", s)
	}
	r.displays(id, "begin "+id+" --model m fix it", "a=preset b=person preset=mine", "the file is here")
	must(t, os.RemoveAll(filepath.Join(r.dir, "presets"))) // it is not needed any more
	_, err = r.Stop(t.Context(), admin, id, hitchpost.StopRequest{})
	must(t, err)
	_, err = r.Restart(t.Context(), admin, id, hitchpost.RestartRequest{})
	must(t, err)
	r.displays(id, "again --model m", "a=preset b=person preset=mine", "the file is here")
	raw, err := r.captured(admin, id, hitchpost.CaptureRequest{})
	must(t, err)
	if strings.Contains(string(raw), "fix it") {
		t.Errorf("the prompt was said again:\n%s", raw)
	}
}

// A restart command of the person's own goes before the preset's.
func TestPresetWithARestartCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addPreset("mine", ownPreset)
	res, err := r.Start(t.Context(), admin, hitchpost.StartRequest{Preset: "mine", RestartCommand: "agent x"})
	must(t, err)
	if res.Session.RestartCommand != "agent x" {
		t.Errorf("%+v", res.Session)
	}
}

func TestRefusedPresets(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addPreset("mine", ownPreset)
	r.addPreset("broken", `{"version": 1, "program": "PROGRAM", "first": []}`)
	r.addPreset("away", `{"version": 1, "program": "/nowhere/agent"}`)
	for name, c := range map[string]struct {
		request hitchpost.StartRequest
		want    hitchpost.ErrorKind
		says    string
	}{
		"unknown":  {hitchpost.StartRequest{Preset: "nobody"}, hitchpost.NotFoundError, "codex"},
		"a path":   {hitchpost.StartRequest{Preset: "../presets/mine"}, hitchpost.NotFoundError, "mine"},
		"broken":   {hitchpost.StartRequest{Preset: "broken"}, hitchpost.UsageError, `unknown field "first"`},
		"no file":  {hitchpost.StartRequest{Preset: "away"}, hitchpost.UsageError, "/nowhere/agent"},
		"a shell":  {hitchpost.StartRequest{Preset: "mine", Kind: hitchpost.Shell}, hitchpost.UsageError, "kind command"},
		"a claude": {hitchpost.StartRequest{Preset: "mine", Kind: hitchpost.Claude}, hitchpost.UsageError, "kind command"},
	} {
		_, err := r.Start(t.Context(), admin, c.request)
		kind(t, err, c.want)
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	sessions, err := r.List(t.Context(), admin, hitchpost.ListRequest{All: true})
	must(t, err)
	if len(sessions) != 0 {
		t.Errorf("refused starts left %+v", sessions)
	}
}

// An agent that would open the newest conversation of its directory does so only where no other session worked there.
func TestPresetDoesNotGuess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.addPreset("newest", `{"version": 1, "program": "PROGRAM", "start": [], "restart": ["again"], "restart_guesses": true,
	"environment": {"FILE": "${folder}/words.txt"}, "files": ["words.txt"]}`)
	dir := filepath.Join(r.dir, "work")
	must(t, os.Mkdir(dir, 0o700))
	res, err := r.Start(t.Context(), admin, hitchpost.StartRequest{Title: "one", Preset: "newest", Cwd: dir})
	must(t, err)
	r.displays(res.Session.ID, "the file is here")
	r.killTmux()
	r.becomes(res.Session.ID, hitchpost.Recoverable)
	_, err = r.Restart(t.Context(), admin, res.Session.ID, hitchpost.RestartRequest{})
	must(t, err)
	r.displays(res.Session.ID, "again")

	_, err = r.Start(t.Context(), admin, hitchpost.StartRequest{Title: "two", Cwd: dir, Args: []string{"sleep", "1000"}})
	must(t, err)
	r.killTmux()
	r.becomes(res.Session.ID, hitchpost.Recoverable)
	_, err = r.Restart(t.Context(), admin, res.Session.ID, hitchpost.RestartRequest{})
	kind(t, err, hitchpost.ConflictError)
	if !strings.Contains(err.Error(), "two worked in") {
		t.Errorf("%v", err)
	}
}

//go:build realclaude

package claude_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/claude/claudetest"
	"github.com/hitchpost/hitchpost/runtime/pty"
)

// Every flag and command that the program's help tells of is in our tables, with as many values.
func TestRealClaudeFlagsAreKnown(t *testing.T) {
	t.Parallel()
	spelling := regexp.MustCompile(`^  ((?:--?[\w-]+(?:, )?)+)(?: ([<\[])[^>\]]*?(\.\.\.)?[>\]])?(?:  |$)`)
	command := regexp.MustCompile(`^  ([a-z][\w|-]*)(?: |$)`)
	for _, version := range claudetest.Versions() {
		cmd := exec.Command(claudetest.Real(t, version), "--help")
		cmd.Env = claudetest.NewHome(t).Environment("http://127.0.0.1:9")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		flags, commands, below := 0, 0, false
		for s := bufio.NewScanner(strings.NewReader(string(out))); s.Scan(); {
			below = below || strings.HasPrefix(s.Text(), "Commands:")
			if m := spelling.FindStringSubmatch(s.Text()); m != nil && !below {
				want := map[string]string{"": "none", "<": "one", "[": "optional"}[m[2]]
				if m[3] != "" {
					want = "many"
				}
				for name := range strings.SplitSeq(m[1], ", ") {
					flags++
					if got, ok := claude.Takes(name); !ok || got != want {
						t.Errorf("%s: %s takes %s, here %q, known: %v", version, name, want, got, ok)
					}
				}
			}
			if m := command.FindStringSubmatch(s.Text()); m != nil && below {
				for name := range strings.SplitSeq(m[1], "|") {
					if commands++; !claude.IsCommand(name) {
						t.Errorf("%s: %s is a command", version, name)
					}
				}
			}
		}
		if flags < 60 || commands < 12 {
			t.Errorf("%s: only %d flags and %d commands were found in\n%s", version, flags, commands, out)
		}
	}
}

// realRun is a real claude in a terminal, of which nothing is looked at but what it leaves.
type realRun struct {
	t    *testing.T
	home claudetest.Home
	p    *pty.Process
	out  strings.Builder
	over chan struct{}
}

func startReal(t *testing.T, home claudetest.Home, url string, argv []string, env ...string) *realRun {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir = append(home.Environment(url), env...), home.Project
	p, err := pty.Start(cmd, hitchpost.Size{Cols: 120, Rows: 40})
	if err != nil {
		t.Fatal(err)
	}
	r := &realRun{t: t, home: home, p: p, over: make(chan struct{})}
	go func() {
		defer close(r.over)
		_, _ = io.Copy(&r.out, struct{ io.Reader }{p})
	}()
	t.Cleanup(r.kill)
	return r
}

func (r *realRun) kill() {
	_ = syscall.Kill(r.p.Pid(), syscall.SIGKILL)
	<-r.p.Done()
	_ = r.p.Close()
	<-r.over
}

// idle waits until claude says that it waits for a prompt.
func (r *realRun) idle() (now claude.Entry) {
	r.t.Helper()
	r.wait("it is idle", func() bool {
		all, err := claude.ReadRegistry(r.home.Config)
		if err != nil {
			r.t.Fatal(err)
		}
		e, ok := claude.OfProcess(all, r.p.Pid())
		now = e
		return ok && e.Status == claude.StatusIdle
	})
	return now
}

func (r *realRun) wait(what string, ok func() bool) {
	r.t.Helper()
	tick, limit := time.NewTicker(20*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-r.p.Done():
			<-r.over
			r.t.Fatalf("it ended before %s: %v\n%q", what, r.p.Err(), r.out.String())
		case <-limit:
			r.kill()
			r.t.Fatalf("not in time: %s\n%q", what, r.out.String())
		}
	}
}

// What is planned is what the real program does: it takes the id, the merged settings and the person's words, it calls
// their hooks and ours, and it goes on with the conversation after a kill, without being sent the prompt again.
func TestRealClaudeLaunchAndRestart(t *testing.T) {
	t.Parallel()
	for _, version := range claudetest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			api, home := claudetest.NewAPI(t), claudetest.NewHome(t)
			env := home.Environment(api.URL())
			config, err := claude.ConfigDir(env, home.Project)
			if err != nil || config != home.Config {
				t.Fatalf("%q, %v", config, err)
			}
			install, err := new(claude.Finder).Find(t.Context(), claudetest.Real(t, version), env)
			if err != nil || install.Version != version {
				t.Fatalf("%+v, %v", install, err)
			}
			const prompt = "- one\n- two"
			w := parse(t, `--settings|{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"cat > theirs"}]}]}}`+
				"|--append-system-prompt|- be brief|--name|First|--add-dir|"+home.Tmp+"|--model|opus|--|"+prompt)
			settings := filepath.Join(home.Dir, "settings.json")
			write(t, settings, string(mergeReal(t, w, home, version)), 0o600)

			plan := claude.PlanStart(w, idNew)
			first := startReal(t, home, api.URL(), plan.Argv(install.Path, settings), claude.Environment(0, "token", home.Tmp)...)
			asked := api.Asked(t, prompt)
			if asked.Session != idNew {
				t.Errorf("the conversation is %s", asked.Session)
			}
			for _, hook := range []string{"ours-SessionStart", "ours-UserPromptSubmit", "ours-Stop", "theirs"} {
				first.wait(hook, func() bool { _, err := os.Stat(filepath.Join(home.Project, hook)); return err == nil })
			}
			if e := first.idle(); e.Conversation != idNew || e.Name != "First" {
				t.Errorf("%+v", e)
			}
			want := filepath.Join(config, "projects", claude.TranscriptFolder(claude.RealDir(home.Project)), idNew+".jsonl")
			var state claude.TranscriptState
			first.wait("its transcript has messages", func() bool { // it is written a moment after the turn
				path, now, err := claude.FindTranscript(t.Context(), config, idNew)
				if err != nil || path != "" && path != want {
					t.Fatalf("%s, %v; want %s", path, err, want)
				}
				state = now
				return now == claude.TranscriptMessages
			})
			first.kill()

			plan, err = claude.PlanRestart(claude.RestartFacts{
				Words: w, Conversation: idNew, Transcript: state, Talked: true, Dir: home.Project, NewID: idOther,
			})
			if err != nil {
				t.Fatal(err)
			}
			again := startReal(t, home, api.URL(), plan.Argv(install.Path, settings), claude.Environment(1, "token", home.Tmp)...)
			if e := again.idle(); e.Conversation != idNew {
				t.Errorf("%+v", e)
			}
			if _, err := again.p.Write([]byte("@recall\r")); err != nil {
				t.Fatal(err)
			}
			if recalled := api.Asked(t, "@recall"); recalled.Session != idNew || !strings.Contains(strings.Join(recalled.Texts, "\n"), prompt) {
				t.Errorf("%+v", recalled)
			}
			again.wait("its name came back", func() bool { return again.idle().Name == "First" })
			for _, r := range api.Requests() {
				if n := len(r.Texts); !r.Title && n > 1 && r.Texts[n-1] == prompt {
					t.Errorf("the prompt was sent again: %+v", r)
				}
			}
		})
	}
}

// mergeReal is the settings of a run, whose hooks leave a file for each event in the project.
func mergeReal(t *testing.T, w claude.Words, home claudetest.Home, version string) []byte {
	t.Helper()
	hook := filepath.Join(home.Dir, "it's a $(hook)")
	write(t, hook, "#!/bin/sh\nname=$(sed -n 's/.*\"hook_event_name\":\"\\([A-Za-z]*\\)\".*/\\1/p')\n: > \"ours-$name\"\n", 0o700)
	theirs, err := claude.ReadSettings(w.Settings, home.Project)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := claude.MergeSettings(theirs, claude.Ours{Hook: []string{hook}, Version: version, Screen: w.Screen})
	if err != nil || !json.Valid(doc) {
		t.Fatalf("%s, %v", doc, err)
	}
	return doc
}

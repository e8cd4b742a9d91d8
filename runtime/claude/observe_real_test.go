//go:build realclaude

package claude_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/claude"
	"github.com/hitchpost/hitchpost/runtime/claude/claudetest"
)

// observed is a real claude and all that is known of it without a look at its screen.
type observed struct {
	*realRun
	spool             *claude.Spool
	program, settings string
	hooks             claude.Hooks
	entry             *claude.Entry
	events            []claude.Event
	// verdicts are those that came after each other.
	verdicts []claude.Verdict
	begun    time.Time
}

func observe(t *testing.T, version string) *observed {
	t.Helper()
	api, home := claudetest.NewAPI(t), claudetest.NewHome(t)
	hook := filepath.Join(home.Dir, "hitchpost")
	if out, err := exec.Command("go", "build", "-o", hook, "github.com/hitchpost/hitchpost/cmd/hitchpost").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	hooks := filepath.Join(home.Dir, "hooks")
	spool, err := claude.OpenSpool(hooks)
	must(t, err)
	t.Cleanup(spool.Close)
	doc, err := claude.MergeSettings(nil, claude.Ours{Hook: []string{hook, "hook"}, Version: version})
	must(t, err)
	o := &observed{
		spool: spool, program: claudetest.Real(t, version), settings: filepath.Join(home.Dir, "settings.json"), begun: time.Now(),
	}
	write(t, o.settings, string(doc), 0o600)
	env := append(claude.Environment(3, "token of "+ownSession, hooks), claude.SessionVariable+"="+ownSession)
	o.realRun = startReal(t, home, api.URL(), []string{
		o.program, "--session-id", conversation, "--settings", o.settings, "--permission-mode", "default",
	}, env...)
	return o
}

// look takes what came since, and judges.
func (o *observed) look() claude.Verdict {
	o.t.Helper()
	_, err := o.spool.Read(o.t.Context(), tokens, func(_ context.Context, e claude.Event) error {
		o.events = append(o.events, e)
		if o.entry == nil || e.From(o.entry.Pid) {
			o.hooks = o.hooks.With(e)
		}
		return nil
	})
	must(o.t, err)
	entries, err := claude.ReadRegistry(o.home.Config)
	must(o.t, err)
	o.entry = nil
	if e, ok := claude.OfProcess(entries, o.p.Pid()); ok {
		o.entry = &e
	}
	v := claude.Judge(claude.Sight{Now: time.Now(), Started: o.begun, Entry: o.entry, Hooks: o.hooks})
	if n := len(o.verdicts); n == 0 || o.verdicts[n-1] != v {
		o.verdicts = append(o.verdicts, v)
	}
	return v
}

// until waits for a verdict with that reason.
func (o *observed) until(reason string) claude.Verdict {
	o.t.Helper()
	return o.await(reason, func(v claude.Verdict) bool { return v.Reason == reason })
}

func (o *observed) await(what string, ok func(claude.Verdict) bool) (v claude.Verdict) {
	o.t.Helper()
	first, found := len(o.verdicts), false
	o.t.Cleanup(func() {
		if !found {
			o.t.Logf("on the way to %q: %+v, entry %+v", what, o.verdicts[min(first, len(o.verdicts)):], o.entry)
		}
	})
	o.wait(what, func() bool { v = o.look(); found = ok(v); return found })
	return v
}

func (o *observed) keys(keys string) {
	o.t.Helper()
	_, err := o.p.Write([]byte(keys))
	must(o.t, err)
}

// paste gives a text and, once Claude Code has surely taken it in, Enter.
func (o *observed) paste(text string) {
	o.t.Helper()
	o.answer("\x1b[200~" + text + "\x1b[201~")
	o.answer("\r")
}

// answer gives keys once what they are for has surely been drawn: a dialog, and the first prompt, take none in their
// first moment.
func (o *observed) answer(key string) {
	o.t.Helper()
	<-time.After(700 * time.Millisecond)
	o.keys(key)
}

// dialog waits for a dialog and answers it, again where it took no key yet, until the next reason is there.
func (o *observed) dialog(asked, key, next string) {
	o.t.Helper()
	o.until(asked)
	again := time.Now()
	o.await(next, func(v claude.Verdict) bool {
		if v.Reason == asked && !time.Now().Before(again) {
			o.answer(key)
			again = time.Now().Add(5 * time.Second)
		}
		return v.Reason == next
	})
}

// forever is a command that runs until it is ended or Claude Code is gone, which leaves its tools behind when it is killed.
func (o *observed) forever(file string) string {
	return fmt.Sprintf("tail --pid=%d -f %s", o.p.Pid(), file)
}

// Keys.
const (
	escape    = "\x1b"
	clearLine = "\x15"
)

// What is judged is what the real program does, in the cases that its hooks do not tell of too.
func TestRealClaudeIsJudged(t *testing.T) {
	t.Parallel()
	for _, version := range claudetest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			o := observe(t, version)
			o.until("ready for the first prompt")
			again := time.Now() // what is typed in its first moments is lost
			o.await("the first turn's end", func(v claude.Verdict) bool {
				if v.Reason == "ready for the first prompt" && !time.Now().Before(again) {
					o.keys(clearLine)
					o.paste("hello")
					again = time.Now().Add(5 * time.Second)
				}
				return v.Reason == "turn finished"
			})

			o.paste(`@tool Bash {"command":"touch made; ` + o.forever("made") + `","description":"d"}`)
			o.dialog("permission: Bash", "\r", "works")
			o.answer(escape)
			o.until("turn interrupted")

			o.paste(`@tool Bash {"command":"touch other; ` + o.forever("other") + `","description":"d"}`)
			o.dialog("permission: Bash", escape, "turn interrupted")

			// Another Claude Code that this one starts, here with the same settings, calls the hook with the same environment.
			o.paste(`@tool Bash {"command":"` + o.program + ` --settings ` + o.settings + ` -p '@say inner'","description":"d"}`)
			o.dialog("permission: Bash", "\r", "turn finished")
			strangers := 0
			for _, e := range o.events {
				if own := e.From(o.entry.Pid); own != (e.Conversation == conversation) {
					t.Errorf("%+v of %d", e, o.entry.Pid)
				} else if !own {
					strangers++
				}
			}
			if strangers < 3 {
				t.Errorf("%d events of the other one", strangers)
			}

			// While it streams. An interrupted prompt comes back into the line, and is cleared there.
			o.keys(clearLine)
			o.paste("@hang now")
			o.until("works")
			o.answer(escape)
			o.until("turn interrupted")

			o.keys(clearLine)
			o.paste("@status 400")
			o.await("an error", func(v claude.Verdict) bool { return strings.HasPrefix(v.Reason, "error: ") })

			o.paste(`@tool AskUserQuestion {"questions":[{"question":"Which colour?","header":"c","multiSelect":false,` +
				`"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}`)
			o.dialog("question: Which colour?", escape, "turn interrupted")

			o.keys(clearLine)
			o.paste(`@tool Bash {"command":"` + o.forever("made") + `","description":"d","run_in_background":true}`)
			o.until("works in the background")

			o.paste("/model")
			o.until("dialog open")
			o.answer(escape)
			o.until("works in the background")
			for _, v := range o.verdicts {
				if v.Uncertain != "" {
					t.Errorf("%+v", v)
				}
			}
		})
	}
}

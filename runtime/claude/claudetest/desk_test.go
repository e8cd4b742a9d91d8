package claudetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/claude/claudetest"
)

const waitLimit = time.Minute

// desk is a terminal of its own, in which one program after the other runs in one home, with hooks that write down what
// they are given.
type desk struct {
	t       *testing.T
	home    claudetest.Home
	program string
	env     []string
	socket  string
	log     string // of the hooks
	heard   int    // how many of its lines were looked at
	runs    int
}

func newDesk(t *testing.T, program, url string) *desk {
	t.Helper()
	home := claudetest.NewHome(t)
	d := &desk{t: t, home: home, program: program, env: home.Environment(url), socket: filepath.Join(home.Tmp, "t"),
		log: filepath.Join(home.Tmp, "hooks")}
	hooks := map[string]any{}
	for _, event := range strings.Fields("SessionStart SessionEnd UserPromptSubmit Stop StopFailure PreToolUse PostToolUse " +
		"PostToolUseFailure PermissionRequest PreCompact PostCompact") {
		hooks[event] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "timeout": 5,
			"command": "{ cat; echo; } >> " + d.log}}}}
	}
	doc, err := json.Marshal(map[string]any{"hooks": hooks, "tui": "default", "disableAgentView": true})
	must(t, err)
	must(t, os.WriteFile(d.settings(), doc, 0o600))
	must(t, os.WriteFile(d.log, nil, 0o600))
	t.Cleanup(func() {
		if out, err := exec.Command("tmux", "-S", d.socket, "kill-server").CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		d.eventually("nothing of the desk is left", func() bool {
			out, err := exec.Command("ps", "-A", "-o", "args=").Output()
			return err == nil && !strings.Contains(string(out), d.settings())
		})
	})
	d.tmux("-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "40", "sleep 100000") // keeps the server
	return d
}

func (d *desk) settings() string { return filepath.Join(d.home.Tmp, "settings.json") }

func (d *desk) tmux(words ...string) string {
	d.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", d.socket}, words...)...).CombinedOutput()
	if err != nil {
		d.t.Fatalf("tmux %v: %v\n%s", words, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// run starts the program in a new window, which becomes the current one. A shell stays with it for its exit code, which
// tmux loses at times.
func (d *desk) run(words ...string) {
	d.t.Helper()
	d.runs++
	const script = `sh -c 'echo $$ > "$0.pid"; exec "$@"' "$@"; echo $? > "$1.code"; exec sleep 100000`
	all := append([]string{"new-window", "-c", d.home.Project, "--", "env", "-i"}, d.env...)
	all = append(all, "sh", "-c", script, "sh", d.runPath(), d.program)
	d.tmux(append(all, words...)...)
	d.eventually("it runs", func() bool { return d.number(".pid") != 0 })
}

// runPath is where the latest run's pid and exit code are kept.
func (d *desk) runPath() string { return filepath.Join(d.home.Tmp, fmt.Sprintf("run%d", d.runs)) }

// number is what the latest run has kept, or 0 before it has.
func (d *desk) number(ext string) int {
	text, _ := os.ReadFile(d.runPath() + ext)
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

func (d *desk) pid() int { return d.number(".pid") }

// ended waits for the program's end and returns its exit code, as a shell gives it.
func (d *desk) ended() string {
	d.t.Helper()
	var code string
	d.eventually("the program ends", func() bool {
		text, _ := os.ReadFile(d.runPath() + ".code")
		code = strings.TrimSpace(string(text))
		return code != ""
	})
	return code
}

func (d *desk) screen() string { return d.tmux("capture-pane", "-p") }

// entry is what the running program tells of itself.
type entry struct {
	Pid        int    `json:"pid"`
	SessionID  string `json:"sessionId"`
	Cwd        string `json:"cwd"`
	ProcStart  string `json:"procStart"`
	Kind       string `json:"kind"`
	Status     string `json:"status"`
	WaitingFor string `json:"waitingFor"`
	StatusAt   int64  `json:"statusUpdatedAt"`
}

func (d *desk) entryPath(pid int) string {
	return filepath.Join(d.home.Config, "sessions", strconv.Itoa(pid)+".json")
}

func (d *desk) entry() (e entry) {
	text, err := os.ReadFile(d.entryPath(d.pid()))
	if err == nil {
		_ = json.NewDecoder(bytes.NewReader(text)).Decode(&e) // it may be half written, or have a tail
	}
	return e
}

// becomes waits for a status.
func (d *desk) becomes(status string) entry {
	d.t.Helper()
	var e entry
	d.eventually("status "+status, func() bool { e = d.entry(); return e.Status == status })
	return e
}

// say types a prompt. Enter is pressed only once the text is there and a moment has passed: the real program takes one
// that follows at once for a part of the text.
func (d *desk) say(text string) {
	d.t.Helper()
	d.tmux("send-keys", "C-u")
	d.tmux("set-buffer", "--", text)
	d.tmux("paste-buffer", "-p")
	seen := text[:min(len(text), 20)]
	d.eventually("the text is there", func() bool {
		_, typed, _ := cutLast(d.screen(), "❯")
		return strings.Contains(typed, seen)
	})
	<-time.After(400 * time.Millisecond)
	d.tmux("send-keys", "Enter")
}

// press presses a key until it has an effect: a dialog that has just opened takes none for a moment.
func (d *desk) press(key string, effect func() bool) {
	d.t.Helper()
	d.eventually("an effect of "+key, func() bool {
		d.tmux("send-keys", key)
		for limit := time.Now().Add(2 * time.Second); time.Now().Before(limit); {
			if effect() {
				return true
			}
			<-time.After(20 * time.Millisecond)
		}
		return false
	})
}

// is is the effect of having a status.
func (d *desk) is(status string) func() bool {
	return func() bool { return d.entry().Status == status }
}

// fired waits until the hooks were run for just these events since the last call, each as "Event detail".
func (d *desk) fired(want ...string) []map[string]any {
	d.t.Helper()
	var got []string
	var docs []map[string]any
	d.eventually(fmt.Sprintf("events %q", want), func() bool {
		text, err := os.ReadFile(d.log)
		must(d.t, err)
		got, docs = nil, nil
		for line := range strings.Lines(string(text)) {
			var doc map[string]any
			if strings.TrimSpace(line) == "" || json.Unmarshal([]byte(line), &doc) != nil {
				continue
			}
			docs = append(docs, doc)
			got = append(got, told(doc))
		}
		got, docs = got[d.heard:], docs[d.heard:]
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		d.t.Fatalf("events %q, want %q\n%s", got, want, d.screen())
	}
	d.heard += len(want)
	return docs
}

// told is an event with the one field that matters most.
func told(doc map[string]any) string {
	name, _ := doc["hook_event_name"].(string)
	for _, field := range []string{"source", "reason", "prompt", "tool_name", "error", "last_assistant_message", "trigger"} {
		if text, ok := doc[field].(string); ok {
			text, _, _ = strings.Cut(text, "\n")
			return name + " " + text
		}
	}
	return name
}

func (d *desk) eventually(what string, ok func() bool) {
	d.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for limit := time.Now().Add(waitLimit); !ok(); <-tick.C {
		if time.Now().After(limit) {
			text, _ := os.ReadFile(d.log)
			d.t.Fatalf("waited in vain: %s\n%s\n%+v\n%s", what, d.screen(), d.entry(), text)
		}
	}
}

func (d *desk) signal(s syscall.Signal) { must(d.t, syscall.Kill(d.pid(), s)) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// transcripts are the files of conversations.
func (d *desk) transcripts() []string {
	found, err := filepath.Glob(filepath.Join(d.home.Config, "projects", "*", "*.jsonl"))
	must(d.t, err)
	return found
}

// moment is between two presses of a key that belong together.
func (d *desk) moment() <-chan time.Time { return time.After(300 * time.Millisecond) }

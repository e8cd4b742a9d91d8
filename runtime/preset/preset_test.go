package preset_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	shellquote "github.com/kballard/go-shellquote"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/preset"
)

func values(conversation string) preset.Values {
	return preset.Values{
		Hook: []string{"/opt/it's here/hitchpost", "hook"}, Session: "0190f5fe-7c00-7000-8000-000000000001",
		Folder: `/data/a "b" %/s`, Conversation: conversation,
	}
}

func find(t *testing.T, dir, name string) preset.Preset {
	t.Helper()
	set, err := preset.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	p, err := set.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestBuiltInPresets(t *testing.T) {
	t.Parallel()
	set, err := preset.Load(filepath.Join(t.TempDir(), "nothing"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(set.Names(), " "); got != "aider codex gemini opencode" {
		t.Errorf("built in are %s", got)
	}
	states := map[string]bool{"gemini": true, "opencode": true}
	text, err := os.ReadFile("PRESETS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		p, err := set.Find(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if p.About == "" || len(p.Sources) == 0 || p.TellsState() != states[name] {
			t.Errorf("%s: %q, sources %q, tells a state %v", name, p.About, p.Sources, p.TellsState())
		}
		if !strings.Contains(string(text), "\n## "+name+"\n") {
			t.Errorf("PRESETS.md says nothing of %s", name)
		}
		for _, source := range p.Sources {
			if !strings.Contains(source, "github.com/") && !strings.Contains(source, "tried") {
				t.Errorf("%s: %q names no place", name, source)
			}
		}
	}
	if _, err := set.Find("claude"); hitchpost.KindOf(err) != hitchpost.NotFoundError || !strings.Contains(err.Error(), "claude") {
		t.Errorf("claude is %v", err)
	}
}

// A Restart says nothing again that was a prompt, and opens the session's own conversation where it is known.
func TestWordsOfStartAndRestart(t *testing.T) {
	t.Parallel()
	const hook = `notify=["/opt/it's here/hitchpost","hook","--preset","codex"]`
	shell := shellquote.Join("/opt/it's here/hitchpost", "hook", "--preset", "aider")
	const history = `/data/a "b" %/s/aider.chat.history.md`
	const id = "0190f5fe-7c00-7000-8000-000000000001"
	for _, c := range []struct {
		preset, conversation string
		words                []string
		start, restart       []string
	}{
		{
			"codex", "", []string{"--model", "o3", "fix the tests"},
			[]string{"codex", "-c", hook, "--model", "o3", "fix the tests"}, []string{"codex", "-c", hook, "resume", "--model", "o3"},
		},
		{
			"codex", "thread-1", []string{"fix", "-c", "a=1", "--search", "--model=o3", "--", "--model", "x"},
			[]string{"codex", "-c", hook, "fix", "-c", "a=1", "--search", "--model=o3", "--", "--model", "x"},
			[]string{"codex", "-c", hook, "resume", "-c", "a=1", "--search", "--model=o3"},
		},
		{"opencode", "", []string{"--prompt", "fix"}, []string{"opencode", "--prompt", "fix"}, []string{"opencode", "--continue"}},
		{
			"opencode", "ses_1", []string{"-m"}, []string{"opencode", "-m"}, []string{"opencode", "--session", "ses_1"},
		},
		{
			"gemini", "", []string{"-i", "fix", "-y"}, []string{"gemini", "--session-id", id, "-i", "fix", "-y"},
			[]string{"gemini", "--resume", id, "-y"},
		},
		{"gemini", "other", nil, []string{"gemini", "--session-id", id}, []string{"gemini", "--resume", "other"}},
		{
			"aider", "x", []string{"main.go", "--model", "m"},
			[]string{
				"aider", "--chat-history-file", history, "--notifications", "--notifications-command", shell, "main.go",
				"--model", "m",
			},
			[]string{
				"aider", "--chat-history-file", history, "--restore-chat-history", "--notifications", "--notifications-command",
				shell, "--model", "m",
			},
		},
	} {
		p := find(t, "", c.preset)
		if got := p.Start(values(""), c.words); !slices.Equal(got, c.start) {
			t.Errorf("%s starts with\n%q, want\n%q", c.preset, got, c.start)
		}
		if got := p.Restart(values(c.conversation), c.words); !slices.Equal(got, c.restart) {
			t.Errorf("%s restarts with\n%q, want\n%q", c.preset, got, c.restart)
		}
	}
}

// What opencode is told is JSON whatever the folder is called, and names the file that lies there.
func TestEnvironmentOfAPreset(t *testing.T) {
	t.Parallel()
	p := find(t, "", "opencode")
	env := p.Environment(values(""))
	if len(env) != 2 || !slices.IsSorted(env) {
		t.Fatalf("environment %q", env)
	}
	var hook []string
	text, _ := strings.CutPrefix(env[0], preset.HookVariable+"=")
	if err := json.Unmarshal([]byte(text), &hook); err != nil || len(hook) != 4 || hook[3] != "opencode" {
		t.Errorf("%s: %q, %v", env[0], hook, err)
	}
	var config struct{ Plugin []string }
	text, _ = strings.CutPrefix(env[1], "OPENCODE_CONFIG_CONTENT=")
	if err := json.Unmarshal([]byte(text), &config); err != nil || len(config.Plugin) != 1 ||
		config.Plugin[0] != "file:///data/a%20%22b%22%20%25/s/opencode.js" {
		t.Errorf("%s: %q, %v", env[1], config.Plugin, err)
	}
	if len(p.File("opencode.js")) == 0 || p.File("other") != nil {
		t.Error("its file is not there")
	}
}

// The words for aider's command go through a shell and come out whole.
func TestHookWordsSurviveAShell(t *testing.T) {
	t.Parallel()
	v := values("")
	v.Hook = []string{"printf", "%s\n", "it's $HOME `x` \"y\""}
	argv := find(t, "", "aider").Start(v, nil)
	out, err := exec.Command("sh", "-c", argv[len(argv)-1]).CombinedOutput()
	if err != nil || string(out) != "it's $HOME `x` \"y\"\n--preset\naider\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAPersonsPresets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const least = `"version": 1, "program": "mine"`
	write("codex.json", `{`+least+`, "start": ["${session}"], "files": ["mine.js"]}`)
	write("mine.js", "// mine")
	write("notes.txt", "no preset")
	p := find(t, dir, "codex")
	if got := p.Start(values(""), []string{"x"}); !slices.Equal(got, []string{"mine", values("").Session, "x"}) || p.Hook != nil ||
		string(p.File("mine.js")) != "// mine" {
		t.Errorf("%+v starts with %q", p, got)
	}

	for name, c := range map[string]struct{ text, says string }{
		"empty":      {"", "EOF"},
		"field":      {`{` + least + `, "sart": []}`, `unknown field "sart"`},
		"type":       {`{` + least + `, "start": "x"}`, "start: a string"},
		"deep":       {`{` + least + `, "hook": {"inputs": "stdin"}}`, `unknown field "inputs"`},
		"tail":       {`{` + least + `} {}`, "behind its end"},
		"syntax":     {`{` + least + `,}`, "byte 34"},
		"version":    {`{"version": 2, "program": "x"}`, "version: 2"},
		"program":    {`{"version": 1}`, "program: "},
		"relative":   {`{"version": 1, "program": "./x"}`, "program: "},
		"words":      {`{"version": 1, "program": "x y"}`, "program: "},
		"flag":       {`{"version": 1, "program": "-x"}`, "program: "},
		"place":      {`{` + least + `, "restart": ["${hook}"]}`, `restart: no placeholder "${hook}"`},
		"open":       {`{` + least + `, "start": ["${session"]}`, `start: no placeholder "${session"`},
		"envplace":   {`{` + least + `, "environment": {"A": "${x}"}}`, "environment: no placeholder"},
		"envname":    {`{` + least + `, "environment": {"A B": "x"}}`, `environment: "A B"`},
		"envours":    {`{` + least + `, "environment": {"HITCHPOST_SESSION": "x"}}`, "environment: HITCHPOST_SESSION"},
		"nul":        {`{` + least + `, "start": ["a\u0000b"]}`, "start: a word with a NUL"},
		"outside":    {`{` + least + `, "files": ["../x"]}`, "files: "},
		"missing":    {`{` + least + `, "files": ["x.js"]}`, "files: "},
		"input":      {`{` + least + `, "hook": {"input": "x"}}`, "hook.input: "},
		"event":      {`{` + least + `, "hook": {"input": "stdin"}}`, "hook.event: "},
		"events":     {`{` + least + `, "hook": {"input": "stdin", "event": "e"}}`, "hook.events: none"},
		"means":      {`{` + least + `, "hook": {"input": "none", "events": {"": {"means": "x"}}}}`, "means: "},
		"half":       {`{` + least + `, "hook": {"input": "stdin", "event": "e", "events": {"a": {"means": "waits"}}}}`, "attention"},
		"large":      {`{` + least + `, "about": "` + strings.Repeat("x", 64<<10) + `"}`, "more than 65536 bytes"},
		"Bad Name":   {`{` + least + `}`, "its name: "},
		"nameless..": {`{` + least + `}`, "its name: "},
	} {
		write(name+".json", c.text)
		set, err := preset.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = set.Find(name)
		if hitchpost.KindOf(err) != hitchpost.UsageError || !strings.Contains(err.Error(), c.says) ||
			!strings.Contains(err.Error(), filepath.Join(dir, name+".json")) {
			t.Errorf("%s: %v, want the file and %q", name, err, c.says)
		}
		if _, err := set.Find("gemini"); err != nil {
			t.Errorf("a broken file beside it harms gemini: %v", err)
		}
	}
}

// A folder may hold what is no file, or more than anybody means to.
func TestPresetsFromAnOddFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	set, err := preset.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "folder"} {
		if _, err := set.Find(name); hitchpost.KindOf(err) != hitchpost.UsageError || !strings.Contains(err.Error(), "is no file") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for i := range 101 {
		if err := os.WriteFile(filepath.Join(dir, "p"+strings.Repeat("x", i)+".json"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := preset.Load(dir); hitchpost.KindOf(err) != hitchpost.FailedError {
		t.Errorf("too many presets: %v", err)
	}
	if _, err := preset.Load(filepath.Join(dir, "pxx.json")); hitchpost.KindOf(err) != hitchpost.FailedError {
		t.Errorf("a file for a folder: %v", err)
	}
}

package claude_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

func ours() claude.Ours {
	return claude.Ours{Hook: []string{"/usr/bin/hitchpost", "hook"}, Version: "2.1.332"}
}

// merged is a document as Claude Code would read it.
type merged struct {
	Hooks            map[string][]hookGroup `json:"hooks"`
	DisableAgentView any                    `json:"disableAgentView"`
	TUI              any                    `json:"tui"`
}

type hookGroup struct {
	Matcher string `json:"matcher"`
	Hooks   []struct {
		Type, Command string
		Timeout       float64
	} `json:"hooks"`
}

func merge(t *testing.T, theirs string, o claude.Ours) (doc []byte, m merged) {
	t.Helper()
	doc, err := claude.MergeSettings([]byte(theirs), o)
	if err != nil {
		t.Fatalf("%s: %v", theirs, err)
	}
	if err := json.Unmarshal(doc, &m); err != nil {
		t.Fatalf("%s: %v", doc, err)
	}
	return doc, m
}

func TestMergeSettingsGivesEachVersionTheHooksItKnows(t *testing.T) {
	t.Parallel()
	base := []string{"Notification", "PermissionRequest", "PostToolUse", "PreToolUse", "SessionEnd", "SessionStart", "Stop", "UserPromptSubmit"}
	all := append(slices.Clone(base), "PostToolUseFailure", "StopFailure")
	slices.Sort(all)
	for version, want := range map[string][]string{
		"2.1.0": base, "2.1.77": base, "": base, "2.1.197": all, "2.1.332": all, "2.2.0": all, "3.0.0": all,
	} {
		o := ours()
		o.Version = version
		_, m := merge(t, "", o)
		var got []string
		for name, groups := range m.Hooks {
			got = append(got, name)
			g := groups[0]
			if len(groups) != 1 || len(g.Hooks) != 1 || g.Hooks[0].Type != "command" || g.Hooks[0].Timeout != 5 ||
				g.Hooks[0].Command != "'/usr/bin/hitchpost' 'hook'" {
				t.Errorf("%s, %s: %+v", version, name, groups)
			}
			if tool := strings.Contains(name, "Tool") || name == "PermissionRequest"; tool != (g.Matcher == "*") {
				t.Errorf("%s has the matcher %q", name, g.Matcher)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", version, got, want)
		}
	}
}

func TestMergeSettingsKeepsWhatIsThePersons(t *testing.T) {
	t.Parallel()
	const theirs = "\ufeff" + ` {"model": "opus", "big": 12345678901234567890.10, "exp": 1e400, "html": "<a & b>\u2028", "empty": null,
		"env": {"A": "1", "B": 1.50}, "cleanupPeriodDays": 9e1, "disableAllHooks": true, "disableAgentView": false,
		"twice": 1, "twice": 2, "Model": "case counts",
		"hooks": {
			"Stop": [{"hooks": [{"type": "command", "command": "say done", "timeout": 7.0}]}],
			"WorktreeCreate": [{"hooks": []}],
			"PreToolUse": [{"matcher": "Bash", "hooks": []}, {"matcher": "Edit", "hooks": []}]}} `
	doc, m := merge(t, theirs, ours())
	for _, want := range []string{
		`"model":"opus"`, `"big":12345678901234567890.10`, `"exp":1e400`, `"html":"<a & b>\u2028"`, `"empty":null`,
		`"env":{"A":"1","B":1.50}`, `"cleanupPeriodDays":9e1`, `"disableAllHooks":true`, `"twice":2`, `"Model":"case counts"`,
		`"Stop":[{"hooks":[{"type":"command","command":"say done","timeout":7.0}]},{"hooks":[{`,
		`"WorktreeCreate":[{"hooks":[]}]`,
		`"PreToolUse":[{"matcher":"Bash","hooks":[]},{"matcher":"Edit","hooks":[]},{"matcher":"*",`,
	} {
		if !bytes.Contains(doc, []byte(want)) {
			t.Errorf("%s\nlacks %s", doc, want)
		}
	}
	if m.DisableAgentView != true {
		t.Errorf("the key that takes the session away works: %v", m.DisableAgentView)
	}
}

func TestMergeSettingsChoosesTheScreen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		theirs, said, version string
		want                  any
	}{
		{"", "", "2.1.332", "default"},
		{"", "fullscreen", "2.1.332", "fullscreen"},
		{`{"tui":"fullscreen"}`, "", "2.1.332", "fullscreen"},
		{`{"tui":"fullscreen"}`, "default", "2.1.332", "default"},
		{`{"tui":null}`, "", "2.1.332", "default"},
		{"", "fullscreen", "2.1.100", nil}, // no such setting yet
	} {
		o := ours()
		o.Screen, o.Version = test.said, test.version
		if _, m := merge(t, test.theirs, o); m.TUI != test.want {
			t.Errorf("%s and %q with %s: %v, want %v", test.theirs, test.said, test.version, m.TUI, test.want)
		}
	}
}

func TestMergeSettingsRefuses(t *testing.T) {
	t.Parallel()
	for theirs, say := range map[string]string{
		"[]":                    "the settings are not a JSON object",
		"null":                  "the settings are not a JSON object",
		"7":                     "the settings are not a JSON object",
		"{\n  \"a\": 1,\n  b}":  "the settings are not JSON: line 3, column 3: ",
		`{"a": 1`:               "the settings are not JSON: line 1, column 7: unexpected end of JSON input",
		`{} {}`:                 "the settings are not JSON: line 1, column 4",
		"// none\n{}":           "the settings are not JSON: line 1, column 1",
		`{"hooks": []}`:         "hooks in the settings are not a JSON object",
		`{"hooks": "x"}`:        "hooks in the settings are not a JSON object",
		`{"hooks":{"Stop":{}}}`: "hooks.Stop in the settings is not a list",
		`{"a":"` + strings.Repeat("x", 1<<20) + `"}`:                        "longer than 1048576 bytes",
		strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000): "not JSON",
	} {
		doc, err := claude.MergeSettings([]byte(theirs), ours())
		if hitchpost.KindOf(err) != hitchpost.UsageError || !strings.Contains(err.Error(), say) {
			t.Errorf("%.40s: %.80s, %v", theirs, doc, err)
		}
	}
	for _, theirs := range []string{`{"hooks":null}`, `{"hooks":{"Stop":null}}`} {
		if _, m := merge(t, theirs, ours()); len(m.Hooks["Stop"]) != 1 {
			t.Errorf("%s: %+v", theirs, m.Hooks)
		}
	}
}

// Claude Code gives a hook's command to a shell; whatever the path, it must run that program with those words.
func TestHookCommandIsSafeForAShell(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"plain", "with blank", `q'uo"te`, "$(touch made)`touch made`${HOME}", "a;touch made;", "-n", "new\nline", `back\slash`, "*", "ä ö",
	} {
		dir := filepath.Join(t.TempDir(), name)
		program := filepath.Join(dir, "hitchpost")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(program, []byte("#!/bin/sh\nprintf '%s|' \"$@\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		o := ours()
		o.Hook = []string{program, "hook", name}
		doc, err := claude.MergeSettings(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		var m merged
		if err := json.Unmarshal(doc, &m); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("/bin/sh", "-c", m.Hooks["Stop"][0].Hooks[0].Command)
		cmd.Dir = t.TempDir()
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "hook|"+name+"|" {
			t.Errorf("%q: %q, %v", name, out, err)
		}
		if left, _ := os.ReadDir(cmd.Dir); len(left) > 0 {
			t.Errorf("%q made %v", name, left)
		}
	}
	o := ours()
	o.Hook = []string{"/opt/\xff/hitchpost", "hook"} // JSON has no such text
	if doc, err := claude.MergeSettings(nil, o); hitchpost.KindOf(err) != hitchpost.FailedError {
		t.Errorf("%s, %v", doc, err)
	}
}

func TestReadSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("a.json", `{"a":1}`)
	put("{odd", `{"odd":1}`)
	put("large.json", strings.Repeat(" ", 1<<20+1))
	if err := os.Symlink("a.json", filepath.Join(dir, "link.json")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"": "", " ": "", `{"b":2}`: `{"b":2}`, " {\"b\":2}\n": `{"b":2}`, "{broken}": "{broken}", "a.json": `{"a":1}`, "./a.json": `{"a":1}`,
		filepath.Join(dir, "a.json"): `{"a":1}`, "link.json": `{"a":1}`, "{odd": `{"odd":1}`,
	} {
		if got, err := claude.ReadSettings(value, dir); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v", value, got, err)
		}
	}
	for value, say := range map[string]string{
		"gone.json": `the settings file "gone.json" does not exist: check --settings`, ".": "cannot be read", "fifo": "cannot be read",
		"large.json": "cannot be read", "a.json/b": "cannot be read", "no\x1b[1m": `"no\x1b[1m" does not exist`,
	} {
		got, err := claude.ReadSettings(value, dir)
		if hitchpost.KindOf(err) != hitchpost.UsageError || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %q, %v", value, got, err)
		}
	}
}

// Whatever the settings of a person are: they are refused, or the result is JSON that holds all of theirs, as they wrote
// it, and ours.
func FuzzMergeSettings(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "null", `{"a":1e999,"a":[1,{"b":null}]}`, `{"hooks":{"Stop":[1,2],"New":[]}}`, `{"tui":"fullscreen"}`, "\ufeff{}", `{"\ud800":1}`,
		`{"hooks":{"Stop":null}}`, `{"hooks":null,"x":"\u0000<>"}`, "{\"a\":\"\xff\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, theirs []byte) {
		doc, err := claude.MergeSettings(theirs, ours())
		if err != nil {
			if hitchpost.KindOf(err) != hitchpost.UsageError {
				t.Fatalf("%q: %v", theirs, err)
			}
			return
		}
		var got, want map[string]any
		var m merged
		if err := read(doc, &got); err != nil {
			t.Fatalf("%q became %q: %v", theirs, doc, err)
		}
		if err := json.Unmarshal(doc, &m); err != nil && !bytes.Contains(theirs, []byte("hooks")) {
			t.Fatalf("%q became %q: %v", theirs, doc, err)
		}
		if text := bytes.TrimPrefix(theirs, []byte("\ufeff")); len(bytes.TrimSpace(text)) > 0 {
			if err := read(text, &want); err != nil {
				t.Fatalf("%q was taken: %v", theirs, err)
			}
		}
		for name, value := range want {
			if name != "hooks" && name != "disableAgentView" && name != "tui" && !reflect.DeepEqual(got[name], value) {
				t.Fatalf("%q became %q: %s changed", theirs, doc, name)
			}
		}
		hooks, _ := got["hooks"].(map[string]any)
		before, _ := want["hooks"].(map[string]any)
		for event, value := range before {
			list, _ := value.([]any)
			if now, _ := hooks[event].([]any); len(now) < len(list) || len(list) > 0 && !reflect.DeepEqual(now[:len(list)], list) {
				t.Fatalf("%q became %q: hooks of %s changed", theirs, doc, event)
			}
		}
		stop, _ := hooks["Stop"].([]any)
		if last, err := json.Marshal(stop[len(stop)-1]); err != nil || !bytes.Contains(last, []byte("'/usr/bin/hitchpost' 'hook'")) {
			t.Fatalf("%q became %q: our hook is not the last", theirs, doc)
		}
		if got["disableAgentView"] != true {
			t.Fatalf("%q became %q", theirs, doc)
		}
	})
}

// read reads JSON with its numbers as they are written.
func read(doc []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	return d.Decode(v)
}

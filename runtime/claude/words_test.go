package claude_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

const (
	idNew   = "0198c5b0-7c7e-7d1e-9f7a-3b0c5d1e2f30"
	idOld   = "3f2c1b0a-9d8e-4f7a-8b6c-5d4e3f2a1b0c"
	idOther = "11111111-2222-4333-8444-555555555555"
)

// line writes words apart, so that a table stays readable. No word in the tables holds a bar.
func line(words []string) string { return strings.Join(words, "|") }

func TestWordsOfAFirstStart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ given, argv string }{
		{"", ""},
		{"fix the tests", "--|fix the tests"},
		{"|fix it|", "--|fix it"}, // an empty word is no prompt
		{"--|fix it", "--|fix it"},
		{"--|- one\n- two", "--|- one\n- two"},
		{"-", "--|-"},
		{"--model|opus|fix it", "--model|opus|--|fix it"},
		{"fix it|--model|opus", "--model|opus|--|fix it"},
		{"--model=opus|fix it", "--model=opus|--|fix it"},
		{"--model=|fix it", "--model=|--|fix it"},
		{"--model||fix it", "--model||--|fix it"},
		{"--model|opus|--model|haiku", "--model|opus|--model|haiku"}, // the last counts, as with claude
		{"--append-system-prompt|- be brief", "--append-system-prompt|- be brief"},
		{"--append-system-prompt=--be-brief", "--append-system-prompt=--be-brief"},
		{"--max-budget-usd|-1", "--max-budget-usd|-1"},
		// As many as there are, until a flag or --.
		{"--add-dir|/a|/b|fix it", "--add-dir|/a|/b|fix it"},
		{"--add-dir|/a|/b|--|fix it", "--add-dir|/a|/b|--|fix it"},
		{"--add-dir=/a|fix it", "--add-dir=/a|--|fix it"},
		{"--allowedTools|Bash(git *)|Edit|--verbose|fix it", "--allowedTools|Bash(git *)|Edit|--verbose|--|fix it"},
		{"--tools||fix it", "--tools||fix it"},
		// At most one.
		{"--debug|api|fix it", "--debug|api|--|fix it"},
		{"--debug|--|fix it", "--debug|--|fix it"},
		{"-d|--verbose|fix it", "-d|--verbose|--|fix it"},
		{"-dapi|fix it", "-dapi|--|fix it"},
		{"-d2e", "-d2e"},
		{"-nName|-wtree", "-nName|-wtree"},
		{"-n|a name|-w|tree|fix it", "-n|a name|-w|tree|--|fix it"},
		// What this version does not know may be known to another.
		{"--new-flag", "--new-flag"},
		{"--new-flag|--verbose|fix it", "--new-flag|--verbose|--|fix it"},
		{"--new-flag=x|fix it", "--new-flag=x|--|fix it"},
		{"--new-flag|--|fix it", "--new-flag|--|fix it"},
		{"-z", "-z"},
		// What the plan of a run gives itself.
		{"--settings|{}|fix it", "--|fix it"},
		{"--settings=a.json|--tui|fullscreen|fix it", "--|fix it"},
		// A word that looks like a command of claude is one only as the first.
		{"mcp is broken", "--|mcp is broken"},
		{"--name|mcp", "--name|mcp"},
	} {
		w, err := claude.ParseWords(given(test.given))
		if err != nil {
			t.Errorf("%q: %v", test.given, err)
			continue
		}
		got := claude.PlanStart(w, idNew).Argv("/bin/claude", "/s.json")
		want := "/bin/claude|--session-id|" + idNew + "|--settings|/s.json"
		if test.argv != "" {
			want += "|" + test.argv
		}
		if line(got) != want {
			t.Errorf("%q:\n got %q\nwant %q", test.given, line(got), want)
		}
	}
}

func given(bars string) []string {
	if bars == "" {
		return nil
	}
	return strings.Split(bars, "|")
}

func TestWordsThatThePlanTakes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		given string
		want  claude.Words
	}{
		{"--settings|a.json|--settings={\"a\":1}", claude.Words{Settings: `{"a":1}`}},
		{"--tui|fullscreen|--tui=default", claude.Words{Screen: "default"}},
		{"-r|" + idOld, claude.Words{Resume: idOld}},
		{"-r" + strings.ToUpper(idOld), claude.Words{Resume: idOld}},
		{"--resume=" + idOld + "|--fork-session|go on", claude.Words{Resume: idOld, Fork: true, Prompt: "go on"}},
		{"--resume|" + idOther + "|--resume|" + idOld, claude.Words{Resume: idOld}},
		{"--session-id|" + strings.ToUpper(idOther), claude.Words{SessionID: idOther}},
	} {
		got, err := claude.ParseWords(given(test.given))
		if err != nil || line([]string{got.Settings, got.Screen, got.Resume, got.SessionID, got.Prompt}) !=
			line([]string{test.want.Settings, test.want.Screen, test.want.Resume, test.want.SessionID, test.want.Prompt}) ||
			got.Fork != test.want.Fork || got.Silent {
			t.Errorf("%q: %+v, %v", test.given, got, err)
		}
	}
	for _, flag := range []string{"--bare", "--safe-mode"} {
		if got, err := claude.ParseWords([]string{flag}); err != nil || !got.Silent {
			t.Errorf("%s: %+v, %v", flag, got, err)
		}
	}
}

func TestWordsThatAreRefused(t *testing.T) {
	t.Parallel()
	for given, say := range map[string]string{
		"-p|fix it":                              "claude cannot be given --print in a session (it prints and ends",
		"fix it|--print":                         "--print in a session",
		"-pc":                                    "--print",
		"--help":                                 "run that as a command",
		"-v":                                     "--version",
		"--bg|fix it":                            "--bg in a session (the conversation would run elsewhere",
		"--background":                           "the session itself stays when you leave",
		"--worktree|x|--tmux":                    "--tmux in a session",
		"--tmux=classic|-w":                      "give --worktree alone",
		"--continue":                             "may be another session's): name the conversation with --resume ID",
		"-c":                                     "--continue",
		"-cr":                                    "--continue",
		"--from-pr|12":                           "name the conversation with --resume ID",
		"--cloud|x":                              "--cloud",
		"--teleport":                             "--teleport",
		"--remote-control":                       "--remote-control",
		"--rc=x":                                 "--rc",
		"--desktop":                              "--desktop",
		"--routine|x":                            "--routine",
		"--no-session-persistence":               "cannot be resumed",
		"--reply-on-resume":                      "nothing is sent again by itself",
		"--resume":                               "names no conversation by its id",
		"--resume|my session":                    "names no conversation by its id",
		"--resume=":                              "names no conversation by its id",
		"-r|" + idOld[1:]:                        "names no conversation by its id",
		"-r|{" + idOld + "}":                     "names no conversation by its id",
		"-r|" + idOld + ".jsonl":                 "names no conversation by its id",
		"--session-id|me":                        `"me" is not a UUID`,
		"--session-id":                           "--session-id has no value: write --session-id=VALUE",
		"--session-id|" + "urn:uuid:" + idOld:    "is not a UUID",
		"--fork-session":                         "names no conversation to copy",
		"-r|" + idOld + "|--session-id|" + idNew: "name two conversations",
		"-r|" + idOld + "|--fork-session|--session-id|" + idOld: "cannot have the same id",
		"mcp|list":                               `claude takes "mcp" for a command`,
		"--model|opus|agents":                    `claude takes "agents" for a command`,
		"--|attach":                              `claude takes "attach" for a command`,
		"fix|the tests":                          `claude takes one word as the prompt and would drop "the tests": quote the whole prompt`,
		"--|--print":                             `may take the prompt "--print" for a flag`,
		"--|-p":                                  "for a flag",
		"--|--settings={}":                       "for a flag",
		"--new-flag|fix it":                      `"--new-flag" is not known here, and "fix it" may be its value or the prompt: write --new-flag=VALUE`,
		"-z|x":                                   `"-z" is not known here`,
		"--verbose=yes":                          "--verbose takes no value",
		"--model":                                "--model has no value",
		"--model|--verbose":                      "--model has no value: write --model=VALUE",
		"--model|--|fix it":                      "--model has no value",
		"--add-dir":                              "--add-dir has no value",
		"--tui|curses":                           `"curses" is no renderer of claude: write --tui default or --tui fullscreen`,
		"--settings":                             "--settings has no value",
		"a\x00b":                                 "cannot hold a NUL byte",
		"--x\x1b[31m|" + strings.Repeat("w", 99): `may be its value`,
	} {
		w, err := claude.ParseWords(strings.Split(given, "|"))
		if hitchpost.KindOf(err) != hitchpost.UsageError || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %+v, %v", given, w, err)
			continue
		}
		if text := err.Error(); len(text) > 300 || strings.ContainsAny(text, "\x1b\x00\n") {
			t.Errorf("%q: the message is not one short line: %q", given, text)
		}
	}
}

// Whatever a person gives, what is kept is theirs, in order, and what is given to claude has exactly one of each of ours.
func FuzzParseWords(f *testing.F) {
	for _, seed := range []string{
		"", "fix it", "--model\nopus\n--\n- x", "-r\n" + idOld + "\n--fork-session", "--add-dir\na\nb", "-dapi", "--tui=default",
		"--settings\n{}\nx", "-", "--", "---", "-=", "--=", "--\n\n", "-é", "--unknown=\n\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		args := strings.Split(text, "\n")
		w, err := claude.ParseWords(args)
		if err != nil {
			if hitchpost.KindOf(err) != hitchpost.UsageError || strings.ContainsAny(err.Error(), "\x1b\x00\n") {
				t.Fatalf("%q: %q", args, err)
			}
			return
		}
		first := claude.PlanStart(w, idNew)
		argv := first.Argv("claude", "/s.json")
		again, err := claude.PlanRestart(claude.RestartFacts{
			Words: w, Conversation: first.Conversation, Transcript: claude.TranscriptMessages, NewID: idOther,
		})
		if err != nil {
			t.Fatal(err)
		}
		resumed := again.Argv("claude", "/s.json")
		rest := args
		for _, word := range argv[slices.Index(argv, "/s.json")+1:] {
			if word == "--" || word == w.Prompt {
				continue
			}
			i := slices.Index(rest, word)
			if i < 0 {
				t.Fatalf("%q became %q: %q is nobody's, or in another order", args, argv, word)
			}
			rest = rest[i+1:]
		}
		if p := w.Prompt; p != "" && !slices.Equal(argv[len(argv)-2:], []string{"--", p}) {
			t.Fatalf("%q: %q does not end with the prompt", args, argv)
		}
		if !slices.Equal(resumed[:5], []string{"claude", "--resume", first.Conversation, "--settings", "/s.json"}) {
			t.Fatalf("%q resumes as %q", args, resumed)
		}
		// What was made is read as what it was made from.
		if re, err := claude.ParseWords(argv[1:]); err != nil || re.Prompt != w.Prompt || re.Settings != "/s.json" {
			t.Fatalf("%q became %q, which is %+v, %v", args, argv, re, err)
		}
		if _, err := json.Marshal(argv); err != nil {
			t.Fatal(err)
		}
	})
}

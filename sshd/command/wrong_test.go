package command_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
	"github.com/hitchpost/hitchpost/sshd/command/commandtest"
)

// needed are the words that a verb cannot do without, as its use names them.
func needed(cmd *cobra.Command) []string {
	var out []string
	for _, word := range strings.Fields(cmd.Use)[1:] {
		if strings.HasPrefix(word, "[") || strings.Contains(word, "|") {
			break
		}
		switch word {
		case "--":
		case "N":
			out = append(out, "1")
		default:
			out = append(out, word)
		}
	}
	return out
}

// wrongFor are lines for one verb that nothing may come of. They follow from the tree alone.
func wrongFor(path string, cmd *cobra.Command) [][]string {
	verb := strings.Fields(path)
	line := func(words ...string) []string { return append(verb[:len(verb):len(verb)], words...) }
	lines := [][]string{
		line("--no-such-flag"), line("--no-such=x"), line("-Z"), line("---"), line("--=x"), line("--json=perhaps"),
		line(strings.Fields(strings.Repeat("word ", 40))...), line("--" + strings.Repeat("x", 1<<17)),
		line("\x1b[31m\n", "\u009b1m", "\u202e"), line("a\xff"), line("a\x00"),
	}
	if len(needed(cmd)) > 0 || cmd.HasSubCommands() {
		lines = append(lines, line(), line("--"))
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "bool":
			lines = append(lines, line("--"+f.Name+"=perhaps"), line("--"+f.Name+"="))
			return
		case "D", "T", "int": // a length of time, a moment, a number
			for _, value := range []string{"", "x", "1", "-1s", "1e9", "99999999999999999999", "99999999999999999999d", "٣s"} {
				if f.Value.Type() == "int" && value == "1" {
					continue
				}
				lines = append(lines, append(line("--"+f.Name+"="+value), needed(cmd)...))
			}
		}
		if f.NoOptDefVal == "" {
			lines = append(lines, line("--"+f.Name))
		}
	})
	return lines
}

// TestWrongWordsOfEveryVerb says to every verb what it cannot mean, as text and as JSON.
func TestWrongWordsOfEveryVerb(t *testing.T) {
	t.Parallel()
	commandtest.Verbs(command.Tree(), func(path string, cmd *cobra.Command) {
		for _, words := range wrongFor(path, cmd) {
			f := peopled()
			c := client{t: t, service: f, stdin: "ssh-ed25519 k"}
			r := c.run(words...)
			if r.status != 2 || r.out != "" || !oneLine(r.errors, "hitchpost: ") || len(f.asked) > 0 {
				t.Errorf("%.200q: %.300q, asked %v", words, fmt.Sprint(r), f.asked)
			}
			r = c.run(append([]string{"--json"}, words...)...)
			if r.status != 2 || r.out != "" || !oneLine(r.errors, `{"error":{"code":"usage","message":"`) ||
				!json.Valid([]byte(r.errors)) || len(f.asked) > 0 {
				t.Errorf("--json %.200q: %.300q, asked %v", words, fmt.Sprint(r), f.asked)
			}
		}
	})
}

// oneLine reports whether text is one line of a length that people read, that begins so and acts on no terminal.
func oneLine(text, begins string) bool {
	return strings.HasPrefix(text, begins) && strings.Count(text, "\n") == 1 && strings.HasSuffix(text, "\n") &&
		len(text) < 20<<10 && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e)
	})
}

// TestHugeWordsOfEveryVerb gives every verb words and values as long as a request of SSH can bring.
func TestHugeWordsOfEveryVerb(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("ab\u00e9", 1<<15)
	commandtest.Verbs(command.Tree(), func(path string, cmd *cobra.Command) {
		verb := strings.Fields(path)
		lines := [][]string{append(verb, huge), append(verb, huge, huge), append(verb, "--", huge)}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			lines = append(lines, append(append(verb, "--"+f.Name+"="+huge), needed(cmd)...))
		})
		for _, words := range lines {
			f := peopled()
			c := client{t: t, service: f, stdin: "ssh-ed25519 k"}
			if r := c.run(words...); r.status != 0 && (r.out != "" || !oneLine(r.errors, "hitchpost: ")) || r.status > 5 {
				t.Errorf("%.60q: %.300q", words, fmt.Sprint(r))
			}
		}
	})
}

// TestAmbiguousRefOfEveryVerb has every verb that is about one thing be told that it could be several.
func TestAmbiguousRefOfEveryVerb(t *testing.T) {
	t.Parallel()
	seen := 0
	commandtest.Verbs(command.Tree(), func(path string, cmd *cobra.Command) {
		if path == "attach" || !strings.Contains(cmd.Use, "REF") && !strings.Contains(cmd.Use, "ID") {
			return
		}
		seen++
		words := append(strings.Fields(path), needed(cmd)...)
		if path == "events" || path == "send" {
			words = []string{path, "REF", "--json=false"}
		}
		if path == "send" {
			words = append(words, "text")
		}
		f := &fake{err: hitchpost.Errorf(hitchpost.UsageError, "0198 could be api or web").Hinted("give more of the id")}
		r := client{t: t, service: f}.run(words...)
		if r.status != 2 || r.out != "" || r.errors != "hitchpost: 0198 could be api or web: give more of the id\n" {
			t.Errorf("%q: %+v", words, r)
		}
	})
	if seen < 15 {
		t.Errorf("only %d verbs are about one thing", seen)
	}
}

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hitchpost/hitchpost/sshd/command"
	"github.com/hitchpost/hitchpost/sshd/command/commandtest"
)

// ran is one command line in this process, with an empty environment.
func ran(t *testing.T, args ...string) answer {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(t.Context(), args, func(string) string { return "" }, streams{strings.NewReader(""), &out, &errs})
	return answer{out.String(), errs.String(), code}
}

// eachCommand calls see for every command of the program, hidden ones too, with its words.
func eachCommand(see func(words []string, cmd *cobra.Command)) {
	root := (&program{getenv: func(string) string { return "" }}).rootCommand()
	commandtest.Verbs(root, func(path string, cmd *cobra.Command) { see(strings.Fields(path)[1:], cmd) })
}

func TestEveryCommandHasHelp(t *testing.T) {
	t.Parallel()
	eachCommand(func(words []string, cmd *cobra.Command) {
		if cmd.Hidden {
			return
		}
		for _, args := range [][]string{append(words, "--help"), append(words, "-h"), append([]string{"help"}, words...)} {
			got := ran(t, args...)
			example := "\nExamples:\n  hitchpost " + strings.Join(words, " ")
			if words[0] == "completion" {
				example = "\nExamples:\n  source <(hitchpost completion bash)"
			}
			if got.code != 0 || got.err != "" || !strings.Contains(got.out, example) {
				t.Errorf("%q: %+v", args, got)
			}
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" {
				t.Errorf("%q --%s says nothing of itself", words, f.Name)
			}
		})
	})
	for _, args := range [][]string{{}, {"help"}, {"--help"}} {
		got := ran(t, args...)
		if got.code != 0 || !strings.Contains(got.out, "ssh host help") || strings.Contains(got.out, startTmuxVerb) ||
			strings.Contains(got.out, wrapperVerb) || strings.Contains(got.out, runnerVerb) {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

func TestWrongWordsOfEveryCommand(t *testing.T) {
	t.Parallel()
	wrong := [][]string{{"nope"}, {"--nope"}, {"help", "nope"}, {"help", "--schema", "nope"}, {"help", "--schema", "serve"}, {"completion", "tcsh"}, {"man", "3"}, {"key"}, {"completion"}, {"backup"}}
	eachCommand(func(words []string, _ *cobra.Command) {
		wrong = append(wrong, append(words[:len(words):len(words)], "--no-such-flag"),
			append(words[:len(words):len(words)], "a", "b", "c", "d"))
	})
	for _, args := range wrong {
		if got := ran(t, args...); got.code != 2 || got.out != "" || strings.Count(got.err, "\n") != 1 ||
			!strings.HasPrefix(got.err, "hitchpost: ") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	if got := ran(t, "help", "--schema", "events", "--follow"); got.code != 0 || !strings.Contains(got.out, `"urn:hitchpost:event"`) {
		t.Errorf("%+v", got)
	}
	for _, verb := range []string{"attach", "ls", "task", "send"} {
		if got := ran(t, verb, "x"); got.code != 2 || !strings.Contains(got.err, "that is given over SSH, as in: ssh host "+verb) {
			t.Errorf("%s: %+v", verb, got)
		}
	}
}

// TestManualPages has mandoc look for what man programs of all systems would stumble on.
func TestManualPages(t *testing.T) {
	t.Parallel()
	root := (&program{getenv: os.Getenv}).rootCommand()
	for name, page := range map[string]*roff{
		"hitchpost.1":       programPage(root, serveOptions(os.Getenv), "1.2.3", "2026-01-31"),
		"hitchpost-verbs.7": verbsPage(command.Tree(), "1.2.3", "2026-01-31"),
	} {
		file := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(file, page.Bytes(), 0o600))
		if out, err := exec.Command("mandoc", "-T", "lint", "-W", "warning", file).CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%v (is mandoc installed?)\n%s", err, out)
		}
		shown, err := exec.Command("mandoc", "-T", "ascii", "-O", "width=78", file).Output()
		must(t, err)
		text := strings.Join(strings.Fields(overstruck(string(shown))), " ")
		parent := root
		if name == "hitchpost-verbs.7" {
			parent = command.Tree()
		}
		commandtest.Verbs(parent, func(path string, cmd *cobra.Command) {
			// A page shows the dots of "ARG..." in its own way.
			if use, _, _ := strings.Cut(use(cmd), "\u2026"); strings.Contains(text, use) == cmd.Hidden {
				t.Errorf("%s: %q is there: %t", name, use, cmd.Hidden)
			}
			if cmd.Hidden {
				return
			}
			for _, line := range strings.Split(strings.TrimSpace(cmd.Example), "\n") {
				if line, _, _ = strings.Cut(strings.TrimSpace(line), "\u2026"); !strings.Contains(text, line) {
					t.Errorf("%s: no example %q of %s", name, line, path)
				}
			}
		})
	}
}

// overstruck is text without the backspaces by which bold and underlined letters are made.
func overstruck(text string) string {
	var out []rune
	for _, c := range text {
		if c == '\b' {
			out = out[:len(out)-1]
			continue
		}
		out = append(out, c)
	}
	return string(out)
}

// What was typed before Tab, and what a shell offers then.
func TestCompletion(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string][]string{
		"s":                   {"serve", "service"},
		"r":                   {"restore"}, // neither run-session nor run-task
		"key ":                {"add", "ls", "revoke"},
		"key add --r":         {"--role"},
		"service install --p": {"--print"},
		"completion ":         {"bash", "fish", "zsh"},
		"help ser":            {"serve", "service"},
	} {
		script := `source <(hitchpost completion bash)
_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${words[cword]} prev=${words[cword-1]}; }
complete -p hitchpost > /dev/null || exit 1
read -ra COMP_WORDS <<< "hitchpost $1"
[[ $1 == *" " ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE="hitchpost $1" COMP_POINT=${#COMP_LINE} COMP_TYPE=9
__start_hitchpost 2> /dev/null
printf '%s\n' "${COMPREPLY[@]}"`
		cmd := exec.Command("bash", "--norc", "-c", script, "bash", typed)
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(built)+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		var got []string
		for line := range strings.Lines(string(out)) {
			got = append(got, strings.Fields(line + " -")[0])
		}
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q, %v", typed, got, want, err)
		}
	}
	for _, shell := range []string{"zsh", "fish"} {
		if got := ran(t, "completion", shell); got.code != 0 || !strings.Contains(got.out, "hitchpost") || got.err != "" {
			t.Errorf("%s: exit %d, %.100q %q", shell, got.code, got.out, got.err)
		}
	}
}

// TestMakeInstall installs as a packager does: into a folder of its own, for a prefix elsewhere.
func TestMakeInstall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command("make", "-C", "../..", "install", "PREFIX=/usr", "DESTDIR="+dir+"/to", "BIN="+dir+"/bin")
	cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	var got []string
	must(t, filepath.WalkDir(dir+"/to", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() < 1000 {
			t.Errorf("%s has %d bytes", path, info.Size())
		}
		got = append(got, fmt.Sprintf("%v %s", info.Mode(), strings.TrimPrefix(path, dir+"/to")))
		return err
	}))
	want := []string{
		"-rwxr-xr-x /usr/bin/hitchpost", "-rw-r--r-- /usr/share/bash-completion/completions/hitchpost",
		"-rw-r--r-- /usr/share/fish/vendor_completions.d/hitchpost.fish", "-rw-r--r-- /usr/share/man/man1/hitchpost.1",
		"-rw-r--r-- /usr/share/man/man7/hitchpost-verbs.7", "-rw-r--r-- /usr/share/zsh/site-functions/_hitchpost",
	}
	if !slices.Equal(got, want) {
		t.Errorf("installed\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	page, err := os.ReadFile(dir + "/to/usr/share/man/man1/hitchpost.1")
	must(t, err)
	if !bytes.HasPrefix(page, []byte(".TH HITCHPOST 1 \"20")) {
		t.Errorf("the page has no date: %.60s", page)
	}
}

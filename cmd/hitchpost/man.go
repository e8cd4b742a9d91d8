package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/sshd/command"
)

// date is the day of the version, set at link time.
var date = ""

func (p *program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man 1|7",
		Short: "print a manual page: hitchpost(1), or hitchpost-verbs(7)",
		Long: `Prints what man reads. The first page is about this program, the second about the verbs
that are given over SSH.`,
		Example:   `  hitchpost man 7 > /usr/local/share/man/man7/hitchpost-verbs.7`,
		ValidArgs: []string{"1", "7"},
		Args:      oneWord("1 or 7"),
		RunE: func(cmd *cobra.Command, words []string) error {
			var page *roff
			switch words[0] {
			case "1":
				page = programPage(cmd.Root(), serveOptions(p.getenv), version, date)
			case "7":
				page = verbsPage(command.Tree(), version, date)
			default:
				return hitchpost.Errorf(hitchpost.UsageError, "there is no page %q", words[0]).Hinted("use 1 or 7")
			}
			_, err := p.out.Write(page.Bytes())
			return err
		},
	}
}

// programPage is hitchpost(1).
func programPage(root *cobra.Command, settings []option, version, date string) *roff {
	r := newRoff(manHead{"hitchpost", "1", date, version, "User Commands"})
	r.section("NAME")
	r.text("hitchpost - " + root.Short)
	r.section("SYNOPSIS")
	r.WriteString(".B hitchpost\n.I COMMAND\n[\\fIFLAG\\fR...] [\\fIWORD\\fR...]\n")
	r.section("DESCRIPTION")
	r.text(root.Long)
	r.section("COMMANDS")
	r.commands(root, "hitchpost ")
	r.section("ENVIRONMENT")
	for _, o := range settings {
		r.item(o.env, "As --"+o.flag+", which goes before it.")
	}
	r.section("EXIT STATUS")
	r.text("0 when it is done, and else as in hitchpost-verbs(7).")
	r.section("SEE ALSO")
	r.text("hitchpost-verbs(7), ssh(1), tmux(1)")
	return r
}

// verbsPage is hitchpost-verbs(7).
func verbsPage(root *cobra.Command, version, date string) *roff {
	r := newRoff(manHead{"hitchpost-verbs", "7", date, version, "Miscellaneous Information"})
	r.section("NAME")
	r.text("hitchpost-verbs - what hitchpost(1) is told over SSH")
	r.section("SYNOPSIS")
	r.text("ssh HOST VERB [FLAG...] [WORD...]\n\nssh -t HOST REF")
	r.section("DESCRIPTION")
	r.text(`With a terminal and no verb there is the picker of sessions; with a REF alone, that session.

A REF is a handle, a full id, 4 or more characters that begin one id alone, or last: the session that this key
attached to last.

The words are split as a POSIX shell splits them, without any expansion. The client's own shell has split them
before, so a word with blanks is quoted once for each. Flags may stand before or after words, and -- ends them: every
word behind it is the program's.`)
	r.section("VERBS")
	r.commands(root, "")
	r.section("OUTPUT")
	r.text(`Data goes to stdout, as a table or, with --json, as one JSON document; what is followed is one document a
line. All else goes to stderr: an error is one line, or with --json one document. Scripts can hold what they read to
the schemas that help --schema prints. Documents may gain fields, and lose none; a field without a value is null.`)
	r.section("EXIT STATUS")
	for _, s := range exitStatuses() {
		r.item(fmt.Sprint(s.status), s.text)
	}
	r.text(`task run --wait and task wait return the exit status of the task, or 128+N for signal N.`)
	r.section("SEE ALSO")
	r.text("hitchpost(1), ssh(1)")
	return r
}

// exitMeaning is an exit status and what it tells.
type exitMeaning struct {
	status int
	text   string
}

func exitStatuses() []exitMeaning {
	out := []exitMeaning{{0, "done"}}
	for _, k := range []struct {
		kind hitchpost.ErrorKind
		text string
	}{
		{hitchpost.FailedError, "failed for a reason that stderr names"},
		{hitchpost.UsageError, "wrong words, a REF that could be several, or a terminal is needed"},
		{hitchpost.NotFoundError, "no such session, task, machine or key"},
		{hitchpost.ConflictError, "refused as things stand; the message names what is in the way"},
		{hitchpost.DeniedError, "the role of this key may not do that"},
		{hitchpost.UnconfirmedError, "written, and not seen to arrive"},
		{hitchpost.UnavailableError, "try again: something is away, or restarting"},
		{hitchpost.RevokedError, "this key is no longer good: do not try again"},
		{hitchpost.TimeoutError, "the time was over"},
	} {
		out = append(out, exitMeaning{k.kind.ExitStatus(), string(k.kind) + ": " + k.text})
	}
	return out
}

// commands tells of every command below parent, of each before those that belong to it.
func (r *roff) commands(parent *cobra.Command, program string) {
	for _, cmd := range parent.Commands() {
		if cmd.Hidden {
			continue
		}
		r.subsection(use(cmd))
		r.text(cmd.Short)
		if cmd.Long != "" {
			r.WriteString(".PP\n")
			r.text(cmd.Long)
		}
		r.flags(cmd)
		if cmd.Example != "" {
			prefix := ""
			if program == "" {
				prefix = "ssh host "
			}
			r.code(prefix + cmd.Example)
		}
		r.commands(cmd, program)
	}
}

// use is a command with those that it belongs to and its words, without the name of the program.
func use(cmd *cobra.Command) string {
	path := strings.Fields(cmd.Parent().CommandPath())
	if len(path) > 0 && path[0] == "hitchpost" {
		path = path[1:]
	}
	return strings.Join(append(path, cmd.Use), " ")
}

func (r *roff) flags(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		value, text := pflag.UnquoteUsage(f)
		switch {
		case f.Name == "data-dir": // the default is another for each account
			text += " (default $XDG_STATE_HOME/hitchpost, else ~/.local/state/hitchpost, and /var/lib/hitchpost for root)"
		case f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0":
			text += " (default " + f.DefValue + ")"
		}
		r.item(strings.TrimSpace("--"+f.Name+" "+value), text)
	})
}

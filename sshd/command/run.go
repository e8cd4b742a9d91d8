package command

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

// Run executes the verb of inv and returns the exit status. Without words that is what ls prints. It returns when the
// verb is done, ctx ends or the client takes no more output, and starts nothing that outlives it.
func Run(ctx context.Context, inv Invocation) (exitStatus int) {
	c := &call{Invocation: inv}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Program == "" {
		c.Program = "ssh host"
	}
	root := c.tree() //nolint:contextcheck // ExecuteContextC below hands it to the verbs
	words, err := c.verb(root)
	verb := root
	if err == nil {
		root.SetArgs(words)
		verb, err = root.ExecuteContextC(ctx)
	}
	if err != nil {
		if hitchpost.KindOf(err) == hitchpost.DeniedError {
			c.Service.NoteDenial(c.Actor, path(verb))
		}
		return c.fail(ctx, verb, err)
	}
	return c.status
}

// Verbs lists the words that begin a command line, sorted. Any other word is a REF where there is a terminal.
func Verbs() []string { return verbs(Tree()) }

func verbs(root *cobra.Command) []string { return each(root.Commands(), (*cobra.Command).Name) }

// call is one invocation at work.
type call struct {
	Invocation
	json   bool // --json was read
	status int
}

// verb is the command line with a verb in front: it refuses words that no verb can take, and finds what the verb is
// where none was typed.
func (c *call) verb(root *cobra.Command) ([]string, error) {
	for _, w := range c.Words {
		if !utf8.ValidString(w) || strings.Contains(w, "\x00") {
			return nil, hitchpost.Errorf(hitchpost.UsageError, "%q is not UTF-8 text", w).Hinted("send it in UTF-8")
		}
	}
	words := c.Words
	if len(words) > 1 && words[0] == "--json" { // flags may stand first, and this one goes with any verb
		words = slices.Concat(words[1:2], words[:1], words[2:])
	}
	switch {
	case len(words) == 0 || words[0] == "--json":
		return append([]string{"ls"}, words...), nil
	case slices.Contains(verbs(root), words[0]):
		return words, nil
	case words[0] == "-h" || words[0] == "--help":
		return []string{"help"}, nil
	case c.ref(words):
		return append([]string{"attach"}, words...), nil
	}
	return nil, c.unknown(root, words[0])
}

// ref reports whether the line is a REF on a terminal, with flags at most.
func (c *call) ref(words []string) bool {
	if c.Terminal == nil || words[0] == "" || strings.HasPrefix(words[0], "-") {
		return false
	}
	for _, w := range words[1:] {
		if !strings.HasPrefix(w, "-") || w == "--" {
			return false
		}
	}
	return true
}

// unknown is the error for a word that is none of parent's verbs.
func (c *call) unknown(parent *cobra.Command, word string) error {
	err := hitchpost.Errorf(hitchpost.UsageError, "no verb %q", strings.TrimSpace(path(parent)+" "+word))
	lists := "`" + c.Program + " help` lists the verbs"
	switch {
	case parent.HasParent():
		lists = "`" + c.Program + " " + path(parent) + " --help` lists the verbs"
	case c.Terminal == nil:
		lists += "; a session of that name is attached to with a terminal, by ssh -t"
	}
	var near []string
	if word != "" && len(word) < 20 { // the search takes time and memory with the length
		near = parent.SuggestionsFor(word)
	}
	if len(near) > 0 {
		return err.Hinted("did you mean %q? %s", strings.TrimSpace(path(parent)+" "+nearest(word, near)), lists)
	}
	return err.Hinted("%s", lists)
}

// nearest is the one of verbs that begins most like word: of those that cobra finds, in no order that means something.
func nearest(word string, verbs []string) string {
	alike := func(verb string) (n int) {
		for n < min(len(word), len(verb)) && word[n] == verb[n] {
			n++
		}
		return n
	}
	return slices.MaxFunc(verbs, func(a, b string) int { return cmp.Compare(alike(a), alike(b)) })
}

// errGone says that the client takes no more output: there is nobody to tell.
var errGone = errors.New("the client is gone")

// follows has the verb write to what a client must go on reading: a person may look at a page for as long as they like, but
// what follows events keeps a place that others need.
func (c *call) follows() {
	if c.Stream != nil {
		c.Stdout = c.Stream
	}
}

// print is the only place that writes data: all of it at once.
func (c *call) print(data []byte) error {
	if _, err := c.Stdout.Write(data); err != nil {
		return errGone
	}
	return nil
}

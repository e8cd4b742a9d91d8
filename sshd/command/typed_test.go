package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

func TestSendWaitAndNoteReachTheServiceAsTyped(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]any{
		"send api hello":                   hitchpost.SendRequest{Text: "hello"},
		`send api "it's  'x';" --enter`:    hitchpost.SendRequest{Text: "it's  'x';", Keys: []string{"Enter"}},
		"send --key C-c api --key=Up":      hitchpost.SendRequest{Keys: []string{"C-c", "Up"}},
		"send api --key Esc --enter":       hitchpost.SendRequest{Keys: []string{"Esc", "Enter"}},
		"send api --enter --enter --key -": hitchpost.SendRequest{Keys: []string{"Enter", "Enter", "-"}},
		"send --enter api -- --enter":      hitchpost.SendRequest{Text: "--enter", Keys: []string{"Enter"}},
		"send api -- -":                    hitchpost.SendRequest{Text: "-"},
		"send -- api -":                    hitchpost.SendRequest{Text: "-"},
		"send api ''":                      hitchpost.SendRequest{},
		"wait api":                         hitchpost.WaitRequest{},
		"wait api --timeout 0s":            hitchpost.WaitRequest{Timeout: 1},
		"wait --for stopped,RUNNING api --timeout 1h30m": hitchpost.WaitRequest{
			States: []hitchpost.State{hitchpost.Stopped, hitchpost.Running}, Timeout: 90 * time.Minute,
		},
		"note api":                    "show",
		"note api --set 'a b\n'":      hitchpost.NoteRequest{Text: "a b\n"},
		"note api --set ''":           hitchpost.NoteRequest{},
		"note --append=- api":         hitchpost.NoteRequest{Text: "from stdin\n", Append: true},
		"note api --set -":            hitchpost.NoteRequest{Text: "from stdin\n"},
		"send api -":                  hitchpost.SendRequest{Text: "from stdin\n"},
		"send - - --key F5":           nil,
		"send api - --enter --key F5": hitchpost.SendRequest{Text: "from stdin\n", Keys: []string{"Enter", "F5"}},
	} {
		f := &fake{sessions: []hitchpost.Session{full()}}
		c := client{t: t, service: f}
		if s, ok := want.(hitchpost.SendRequest); ok && strings.HasPrefix(s.Text, "from stdin") || strings.Contains(line, "=- ") ||
			strings.HasSuffix(line, "--set -") || want == nil {
			c.stdin = "from stdin\n"
		}
		r := c.line(line)
		if want == nil {
			if r.status != 3 || f.refs[0] != "-" {
				t.Errorf("%q: %+v for %q", line, r, f.refs)
			}
			continue
		}
		if r.status != 0 || r.errors != "" || len(f.asked) != 1 || f.refs[0] != "api" {
			t.Errorf("%q: status %d, stderr %q, asked %v for %q", line, r.status, r.errors, f.asked, f.refs)
			continue
		}
		if diff := cmp.Diff(want, f.asked[0]); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", line, diff)
		}
	}
}

func TestSendWaitAndNoteThatMeanNothing(t *testing.T) {
	t.Parallel()
	for line, say := range map[string]string{
		"send":                        "`send` needs a REF",
		"send api":                    "`send` needs a TEXT, --enter or a --key",
		"send api two words":          "`send` does not take \"words\": words with blanks need quotes",
		"send api -x":                 "unknown shorthand flag: 'x' in -x",
		"send api --key":              "flag needs an argument: --key",
		"send api --enter=no":         `invalid argument "no" for "--enter" flag: it takes no value`,
		"wait":                        "`wait` needs a REF",
		"wait api b":                  "`wait` does not take \"b\"",
		"wait api --for LIVE":         `no state "LIVE": use one of: STARTING, RUNNING`,
		"wait api --for ''":           `no state ""`,
		"wait api --timeout 10":       "durations are like 90s, 10m, 12h or 90d",
		"note":                        "`note` needs a REF",
		"note api text":               "`note` does not take \"text\"",
		"note api --set x --append y": "--set and --append do not go together",
		"note api --set":              "flag needs an argument: --set",
	} {
		f := &fake{sessions: []hitchpost.Session{full()}}
		r := client{t: t, service: f}.line(line)
		if r.status != 2 || r.out != "" || !strings.Contains(r.errors, say) || strings.Count(r.errors, "\n") != 1 {
			t.Errorf("%q: status %d, stdout %q\n got %q\nwant %q", line, r.status, r.out, r.errors, say)
		}
		if len(f.asked) > 0 {
			t.Errorf("%q: the service was asked: %v", line, f.asked)
		}
	}
	for line, limit := range map[string]int{"send api -": 1 << 20, "note api --set -": 64 << 10, "note api --append -": 64 << 10} {
		f := &fake{sessions: []hitchpost.Session{full()}}
		for _, stdin := range []string{strings.Repeat("x", limit+1), "a\x00", "\xff"} {
			if r := (client{t: t, service: f, stdin: stdin}).line(line); r.status != 2 || len(f.asked) > 0 {
				t.Errorf("%q with %.9q: %+v", line, stdin, r)
			}
		}
		if r := (client{t: t, service: f, stdin: strings.Repeat("x", limit)}).line(line); r.status != 0 {
			t.Errorf("%q with %d bytes: %+v", line, limit, r)
		}
	}
}

func TestSendTellsWhetherItWasSeen(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full()}}
	c := client{t: t, service: f}
	want := map[string]any{"id": full().ID, "handle": "api", "result": "delivered", "bytes": 5.0}
	if diff := cmp.Diff(want, document(t, c.line("send api --json hello"))); diff != "" {
		t.Error(diff)
	}
	f.unseen = true
	r := c.line("send api --json hello")
	if r.status != 6 || !strings.Contains(r.out, `"result":"unconfirmed"`) ||
		!strings.HasPrefix(r.errors, `{"error":{"code":"unconfirmed","message":"api does not show what was sent"`) {
		t.Errorf("%+v", r)
	}
	r = c.line("send api hello")
	if r.status != 6 || r.out != full().ID+"  api  unconfirmed\n" ||
		r.errors != "hitchpost: api does not show what was sent: look at it with `capture api` before you send it again\n" {
		t.Errorf("%+v", r)
	}
}

func TestNoteIsPrintedAsItIs(t *testing.T) {
	t.Parallel()
	for note, want := range map[string]string{
		"": "", "one": "one\n", "one\n": "one\n", "a\n\n\tb  \n\n": "a\n\n\tb  \n\n", "日本 é": "日本 é\n",
		"\x1b[31m\u009b\u202ered": "\ufffd[31m\ufffd\ufffdred\n", // an older program kept it
	} {
		s := full()
		s.Note = note
		c := client{t: t, service: &fake{sessions: []hitchpost.Session{s}}}
		if r := c.line("note api"); r.status != 0 || r.out != want || r.errors != "" {
			t.Errorf("%q: %+v", note, r)
		}
		doc := document(t, c.line("note api --json"))
		if got, _ := doc["note"].(string); got != note || doc["handle"] != "api" {
			t.Errorf("%q: %v", note, doc)
		}
	}
}

func TestExitStatusOfSendWaitAndNote(t *testing.T) {
	t.Parallel()
	for kind, want := range map[hitchpost.ErrorKind]int{
		hitchpost.UsageError: 2, hitchpost.NotFoundError: 3, hitchpost.ConflictError: 4, hitchpost.DeniedError: 5,
		hitchpost.UnconfirmedError: 6, hitchpost.UnavailableError: 75, hitchpost.RevokedError: 77, hitchpost.TimeoutError: 124,
	} {
		f := &fake{err: hitchpost.Errorf(kind, "it broke").Hinted("mend it")}
		for _, line := range []string{"send x y", "wait x", "note x", "note x --set y"} {
			r := client{t: t, service: f}.line(line)
			if r.status != want || r.out != "" || r.errors != "hitchpost: it broke: mend it\n" {
				t.Errorf("%s: %q: %+v", kind, line, r)
			}
		}
	}
}

package claude_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

const sample = "testdata/conversation.jsonl"

// sampleLines is the sample's lines and their ends.
func sampleLines(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(data)))
}

func sampleFacts() claude.Facts {
	return claude.Facts{Title: "green \ufffdagain", LastPrompt: "and this", LastAnswer: "API Error: 500", Context: 1197}
}

// transcript writes lines where Claude Code keeps a conversation of a directory.
func transcript(t *testing.T, config, dir, id string, lines ...string) string {
	t.Helper()
	path := filepath.Join(config, "projects", dir, id+".jsonl")
	must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	return path
}

func TestFindTranscript(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	find := func(wantPath string, want claude.TranscriptState) {
		t.Helper()
		path, state, err := claude.FindTranscript(t.Context(), config, conversation)
		if path != wantPath || state != want || err != nil {
			t.Errorf("%q, %s, %v, want %q, %s", path, state, err, wantPath, want)
		}
	}
	find("", claude.TranscriptNone)
	must(t, os.MkdirAll(filepath.Join(config, "projects", "-p", conversation, "subagents"), 0o700))
	must(t, os.WriteFile(filepath.Join(config, "projects", "file"), nil, 0o600))
	find("", claude.TranscriptNone)
	// A fork that was left at once; and one that is being written.
	lines := sampleLines(t)
	path := transcript(t, config, "-p", conversation, lines[0], lines[1], "not JSON\n", `{"type":"user","mess`)
	find(path, claude.TranscriptEmpty)
	transcript(t, config, "-p", conversation, strings.Repeat("x", 3<<20)+"\n", lines[2])
	find(path, claude.TranscriptMessages)

	// Different directories may have one name; what is moved by hand may be there twice.
	empty := transcript(t, config, "-a", conversation, lines[0])
	must(t, os.Chtimes(empty, time.Now().Add(time.Hour), time.Now().Add(time.Hour)))
	find(path, claude.TranscriptMessages)
	newer := transcript(t, config, "-z", conversation, lines[4])
	must(t, os.Chtimes(newer, time.Now().Add(time.Hour), time.Now().Add(time.Hour)))
	find(newer, claude.TranscriptMessages)
}

func TestFindTranscriptIsNotFooled(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	other := transcript(t, config, "-p", "other", sampleLines(t)...)
	for _, id := range []string{"", "other", "*", "../-p/other", "..", "{0190f5fe-7c00-7000-8000-0000000000c1}", "urn:uuid:" + conversation} {
		if path, _, err := claude.FindTranscript(t.Context(), config, id); hitchpost.KindOf(err) != hitchpost.UsageError || path != "" {
			t.Errorf("%q: %q, %v", id, path, err)
		}
	}
	for i, make := range []func(path string) error{
		func(path string) error { return syscall.Mkfifo(path, 0o600) },
		func(path string) error { return os.Symlink(other, path) },
		func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		dir := filepath.Join(config, "projects", fmt.Sprint(i))
		must(t, os.Mkdir(dir, 0o700))
		must(t, make(filepath.Join(dir, conversation+".jsonl")))
	}
	if path, state, err := claude.FindTranscript(t.Context(), config, conversation); state != claude.TranscriptNone || err != nil {
		t.Errorf("%q, %s, %v", path, state, err)
	}
}

func TestReadFacts(t *testing.T) {
	t.Parallel()
	got, err := claude.ReadFacts(t.Context(), sample)
	must(t, err)
	if diff := cmp.Diff(sampleFacts(), got); diff != "" {
		t.Error(diff)
	}
	// Without the names that a person and Claude Code gave, and without its notes of the last prompt.
	lines := sampleLines(t)
	kept := lines[:0:0]
	for _, line := range lines {
		if !strings.Contains(line, `-title"`) && !strings.Contains(line, `"last-prompt"`) {
			kept = append(kept, line)
		}
	}
	got, err = claude.ReadFacts(t.Context(), transcript(t, t.TempDir(), "-p", "x", kept...))
	must(t, err)
	want := sampleFacts()
	want.Title, want.LastPrompt = "make the tests pass", "and this"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Claude Code notes the last prompt only now and then, at times just before it writes down the next one.
func TestReadFactsOfANewerPrompt(t *testing.T) {
	t.Parallel()
	path := transcript(t, t.TempDir(), "-p", "x", `{"type":"last-prompt","lastPrompt":"the one before"}`+"\n",
		`{"type":"user","message":{"role":"user","content":"the newest"}}`+"\n")
	if got, err := claude.ReadFacts(t.Context(), path); err != nil || got.LastPrompt != "the newest" {
		t.Errorf("%+v, %v", got, err)
	}
}

// Of a conversation of any length no more than a mebibyte is read, and a line of any length is no hindrance.
func TestReadFactsOfALongTranscript(t *testing.T) {
	t.Parallel()
	lines := sampleLines(t)
	huge := `{"type":"api-request","request":"` + strings.Repeat("x", 200_000) + "\"}\n"
	path := transcript(t, t.TempDir(), "-p", "x", lines[4], strings.Repeat(huge, 50), strings.Join(lines[6:], ""))
	got, err := claude.ReadFacts(t.Context(), path)
	must(t, err)
	if diff := cmp.Diff(sampleFacts(), got); diff != "" {
		t.Error(diff)
	}
	// The end of it is one line, which the cut goes through.
	path = transcript(t, t.TempDir(), "-p", "x", lines[4], lines[5], `{"type":"user","message":{"content":"`+strings.Repeat("y", 8<<20)+`"}}`+"\n")
	got, err = claude.ReadFacts(t.Context(), path)
	must(t, err)
	if diff := cmp.Diff(claude.Facts{Title: "Mend the tests", LastPrompt: "make the tests pass"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadFactsAfterCompaction(t *testing.T) {
	t.Parallel()
	path := transcript(t, t.TempDir(), "-p", "x", append(sampleLines(t),
		`{"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":"manual","preTokens":1197,"postTokens":300}}`+"\n")...)
	got, err := claude.ReadFacts(t.Context(), path)
	must(t, err)
	if got.Context != 300 {
		t.Errorf("%d tokens", got.Context)
	}
}

func TestTranscriptsHeedTheirContext(t *testing.T) {
	t.Parallel()
	config := t.TempDir()
	path := transcript(t, config, "-p", conversation, sampleLines(t)...)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(enough)
	_, facts := claude.ReadFacts(ctx, path)
	_, _, find := claude.FindTranscript(ctx, config, conversation)
	_, tally := new(claude.Tally).Read(ctx, path)
	_, history := claude.History(ctx, path)
	_, keep := claude.Keep(ctx, path, t.TempDir(), 0, time.Now())
	for i, err := range []error{facts, find, tally, history, keep} {
		if !errors.Is(err, enough) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestTally(t *testing.T) {
	t.Parallel()
	lines := sampleLines(t)
	path := transcript(t, t.TempDir(), "-p", "x", lines[:8]...) // in the middle of the first message
	var tally claude.Tally
	read := func(want claude.Tokens) {
		t.Helper()
		got, err := tally.Read(t.Context(), path)
		must(t, err)
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	read(claude.Tokens{In: 1110, Out: 20, Whole: true})
	read(claude.Tokens{In: 1110, Out: 20, Whole: true})
	add := func(text string) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		must(t, err)
		_, err = f.WriteString(text)
		must(t, err)
		must(t, f.Close())
	}
	add(strings.Join(lines[8:12], "") + lines[12][:50]) // half a line is not counted yet
	read(claude.Tokens{In: 1115, Out: 35, Whole: true})
	add(lines[12][50:] + strings.Join(lines[13:], ""))
	read(claude.Tokens{In: 2272, Out: 75, Whole: true})
	add(lines[6] + lines[12]) // seen before
	read(claude.Tokens{In: 2272, Out: 75, Whole: true})
	must(t, os.WriteFile(path, []byte(lines[12]), 0o600)) // another file since
	read(claude.Tokens{In: 1157, Out: 40, Whole: true})
}

// A long transcript is counted piece by piece, and a line that is longer than a piece holds up nothing.
func TestTallyOfALongTranscript(t *testing.T) {
	t.Parallel()
	lines := sampleLines(t)
	path := transcript(t, t.TempDir(), "-p", "x", lines[8], strings.Repeat("x", 40<<20)+"\n", lines[12])
	var tally claude.Tally
	var reads []claude.Tokens
	for len(reads) == 0 || !reads[len(reads)-1].Whole {
		got, err := tally.Read(t.Context(), path)
		must(t, err)
		if reads = append(reads, got); len(reads) > 10 {
			t.Fatalf("%+v", reads)
		}
	}
	if last := reads[len(reads)-1]; len(reads) < 2 || last != (claude.Tokens{In: 2267, Out: 70, Whole: true}) {
		t.Errorf("%+v", reads)
	}
}

func TestTallyOfMadeUpNumbers(t *testing.T) {
	t.Parallel()
	line := `{"type":"assistant","message":{"id":"%d","usage":{"input_tokens":%s,"output_tokens":%s}}}` + "\n"
	path := transcript(t, t.TempDir(), "-p", "x", fmt.Sprintf(line, 1, "9223372036854775807", "-5"), fmt.Sprintf(line, 2, "1e99", `"7"`),
		fmt.Sprintf(line, 3, "9223372036854775807", "3"))
	got, err := new(claude.Tally).Read(t.Context(), path)
	if want := (claude.Tokens{In: 2_000_000_000, Out: 3, Whole: true}); got != want || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	got, err := claude.History(t.Context(), sample)
	must(t, err)
	want := `> make the    tests
  pass

I look at
the tests.

* Bash
* Read

They pass` + "\ufffd" + `[31m now` + "\ufffd" + `.

API Error: 500

> and
  this
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	line := `{"type":"assistant","message":{"content":"%07d ` + strings.Repeat("x", 1000) + `"}}` + "\n"
	var lines []string
	for i := range 20_000 {
		lines = append(lines, fmt.Sprintf(line, i))
	}
	got, err := claude.History(t.Context(), transcript(t, t.TempDir(), "-p", "x", lines...))
	must(t, err)
	if len(got) > 1<<20 || len(got) < 1<<19 || !bytes.Contains(got, []byte("0019999 x")) || bytes.Contains(got, []byte("0001000 x")) {
		t.Errorf("%d bytes, %.100q", len(got), got)
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	config, folder := t.TempDir(), filepath.Join(t.TempDir(), "evidence")
	path := transcript(t, config, "-p", conversation, sampleLines(t)...)
	now := time.Now()
	changed := func(days int) {
		t.Helper()
		must(t, os.Chtimes(path, now, now.Add(-time.Duration(days)*24*time.Hour)))
	}
	keep := func(want bool) {
		t.Helper()
		kept, err := claude.Keep(t.Context(), path, folder, 30, now)
		if kept != want || err != nil {
			t.Errorf("%v, %v, want %v", kept, err, want)
		}
	}
	copied := claude.KeptTranscript(folder, conversation)
	changed(24)
	keep(false)
	if _, err := os.Stat(folder); err == nil {
		t.Error("something was made for nothing")
	}
	changed(26)
	keep(true)
	first, err := os.Stat(copied)
	must(t, err)
	data, err := os.ReadFile(copied)
	must(t, err)
	if string(data) != strings.Join(sampleLines(t), "") || first.Mode() != 0o600 {
		t.Errorf("%d bytes, mode %v", len(data), first.Mode())
	}
	keep(true)
	if again, err := os.Stat(copied); err != nil || !os.SameFile(first, again) {
		t.Error("copied again without need")
	}
	changed(27)
	keep(true)
	if again, err := os.Stat(copied); err != nil || os.SameFile(first, again) {
		t.Error("not copied again although it was changed")
	}
	must(t, os.Truncate(path, 257<<20)) // sparse
	changed(28)
	if kept, err := claude.Keep(t.Context(), path, folder, 30, now); kept || hitchpost.KindOf(err) != hitchpost.ConflictError {
		t.Errorf("%v, %v", kept, err)
	}
	if names := left(t, folder); len(names) != 1 {
		t.Errorf("left: %v", names)
	}
	if data, err := os.ReadFile(path); err != nil || len(data) != 257<<20 {
		t.Error("the transcript was changed")
	}
}

func FuzzTranscript(f *testing.F) {
	for _, line := range sampleLines(f) {
		f.Add([]byte(line))
	}
	f.Add([]byte(`{"type":"user","message":{"content":[7,{"type":"text","text":9},null]}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "x.jsonl")
		must(t, os.WriteFile(path, data, 0o600))
		facts, err := claude.ReadFacts(t.Context(), path)
		must(t, err)
		for _, s := range []string{facts.Title, facts.LastPrompt, facts.LastAnswer} {
			fitToShow(t, s)
		}
		tokens, err := new(claude.Tally).Read(t.Context(), path)
		must(t, err)
		if facts.Context < 0 || tokens.In < 0 || tokens.Out < 0 || !tokens.Whole {
			t.Errorf("%+v, %+v", facts, tokens)
		}
		history, err := claude.History(t.Context(), path)
		must(t, err)
		for line := range strings.Lines(string(history)) {
			if line = strings.TrimSuffix(line, "\n"); hitchpost.OneLine(line) != line {
				t.Errorf("not fit for a terminal: %q", line)
			}
		}
	})
}

func BenchmarkReadFacts(b *testing.B) {
	huge := `{"type":"api-request","request":"` + strings.Repeat("x", 100_000) + "\"}\n"
	path := filepath.Join(b.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(strings.Repeat(huge, 100)+strings.Join(sampleLines(b), "")), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := claude.ReadFacts(b.Context(), path); err != nil {
			b.Fatal(err)
		}
	}
}

package claude_test

import (
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/claude"
)

func parse(t *testing.T, words string) claude.Words {
	t.Helper()
	w, err := claude.ParseWords(given(words))
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	return w
}

func TestPlanOfAFirstStart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		words        string
		way          claude.Way
		conversation string
		argv         string
	}{
		{"", claude.WayNew, idNew, "claude|--session-id|" + idNew + "|--settings|/s"},
		{"--session-id|" + idOther + "|hello", claude.WayNew, idOther, "claude|--session-id|" + idOther + "|--settings|/s|--|hello"},
		{"-r|" + idOld + "|--model|opus", claude.WayResume, idOld, "claude|--resume|" + idOld + "|--settings|/s|--model|opus"},
		{"-r|" + idOld + "|--fork-session|go on", claude.WayFork, idNew,
			"claude|--resume|" + idOld + "|--fork-session|--session-id|" + idNew + "|--settings|/s|--|go on"},
		{"-r|" + idOld + "|--fork-session|--session-id|" + idOther, claude.WayFork, idOther,
			"claude|--resume|" + idOld + "|--fork-session|--session-id|" + idOther + "|--settings|/s"},
	} {
		p := claude.PlanStart(parse(t, test.words), idNew)
		if p.Way != test.way || p.Conversation != test.conversation || line(p.Argv("claude", "/s")) != test.argv {
			t.Errorf("%q: %s %s\n got %s\nwant %s", test.words, p.Way, p.Conversation, line(p.Argv("claude", "/s")), test.argv)
		}
	}
}

// The table of what a Restart does, by what is known of the session's conversation.
func TestPlanOfARestart(t *testing.T) {
	t.Parallel()
	const flags = "--model|opus|--name|First|-w|--permission-mode|plan|--prefill|draft|--init|fix it"
	const resume, begin = "claude|--resume|", "claude|--session-id|"
	const rest = "|--settings|/s|--model|opus|--permission-mode|plan"
	const all = "|--settings|/s|--model|opus|--name|First|-w|--permission-mode|plan" // nothing comes back by itself
	for name, test := range map[string]struct {
		words string
		facts claude.RestartFacts
		argv  string              // where it goes on
		kind  hitchpost.ErrorKind // where it is refused
		say   string
	}{
		"it has messages": {
			flags, claude.RestartFacts{Conversation: idOld, Transcript: claude.TranscriptMessages, Talked: true},
			resume + idOld + rest, "", ""},
		"no file yet": {
			flags, claude.RestartFacts{Conversation: idOld, Transcript: claude.TranscriptNone}, begin + idOld + all, "", ""},
		"a file without messages": {
			flags, claude.RestartFacts{Conversation: idOld, Transcript: claude.TranscriptEmpty}, begin + idNew + all, "", ""},
		"the file went": {
			flags, claude.RestartFacts{Conversation: idOld, Transcript: claude.TranscriptNone, Talked: true, CleanupDays: 30},
			"", hitchpost.ConflictError, "the transcript of the conversation " + idOld + " is gone (Claude Code removes those that nobody " +
				"used for 30 days): restart with --fresh for a new conversation, or with --conversation ID for another one"},
		"the messages went": {
			flags, claude.RestartFacts{Conversation: idOld, Transcript: claude.TranscriptEmpty, Talked: true},
			"", hitchpost.ConflictError, "is gone: restart with --fresh"},
		"nobody knows which": {
			flags, claude.RestartFacts{}, "", hitchpost.ConflictError, "nobody knows which conversation the session was in: restart with --fresh"},
		"the directory went": {
			flags, claude.RestartFacts{Conversation: idOld, Transcript: claude.TranscriptMessages, Dir: "/gone\x1b", DirGone: true},
			"", hitchpost.ConflictError, `the directory "/gone\x1b" is gone`},
		"the directory went, and a fresh one is asked for": {
			flags, claude.RestartFacts{Conversation: idOld, Dir: "/gone", DirGone: true, Fresh: true}, "", hitchpost.ConflictError, "make it again"},
		"a fresh one": {
			flags, claude.RestartFacts{Conversation: idOld, Transcript: claude.TranscriptMessages, Fresh: true}, begin + idNew + all, "", ""},
		"a fresh one in place of a gone one": {
			flags, claude.RestartFacts{Conversation: idOld, Talked: true, Transcript: claude.TranscriptNone, Fresh: true},
			begin + idNew + all, "", ""},
		"a chosen one": {
			flags, claude.RestartFacts{Conversation: idOld, Chosen: strings.ToUpper(idOther), ChosenTranscript: claude.TranscriptMessages},
			resume + idOther + rest, "", ""},
		"a chosen one that is not there": {
			flags, claude.RestartFacts{Conversation: idOld, Chosen: idOther, ChosenTranscript: claude.TranscriptNone},
			"", hitchpost.NotFoundError, "no conversation " + idOther + " to resume"},
		"a chosen one without messages": {
			flags, claude.RestartFacts{Chosen: idOther, ChosenTranscript: claude.TranscriptEmpty}, "", hitchpost.NotFoundError, idOther},
		"a chosen one by name": {
			flags, claude.RestartFacts{Chosen: "my talk\x1b", ChosenTranscript: claude.TranscriptMessages},
			"", hitchpost.UsageError, `"my talk\x1b" is not the id of a conversation`},
		"fresh and chosen": {
			flags, claude.RestartFacts{Chosen: idOther, Fresh: true}, "", hitchpost.UsageError, "exclude each other"},
		"one that was resumed at the start": {
			"-r|" + idOld + "|" + flags, claude.RestartFacts{Conversation: idOld, Transcript: claude.TranscriptMessages},
			resume + idOld + rest, "", ""},
		"one that was resumed at the start, and went": {
			"-r|" + idOld + "|" + flags, claude.RestartFacts{Conversation: idOld, Transcript: claude.TranscriptNone},
			"", hitchpost.ConflictError, "is gone"},
		"one that was left for another": {
			"-r|" + idOld + "|" + flags, claude.RestartFacts{Conversation: idOther, Transcript: claude.TranscriptMessages, Moved: true},
			resume + idOther + rest, "", ""},
		"a copy that was never made": {
			"-r|" + idOld + "|--fork-session|" + flags, claude.RestartFacts{Conversation: idOther, Transcript: claude.TranscriptNone},
			resume + idOld + "|--fork-session|--session-id|" + idOther + all, "", ""},
		"a copy": {
			"-r|" + idOld + "|--fork-session|" + flags, claude.RestartFacts{Conversation: idOther, Transcript: claude.TranscriptMessages},
			resume + idOther + rest, "", ""},
		"what came after a copy": {
			"-r|" + idOld + "|--fork-session|" + flags,
			claude.RestartFacts{Conversation: idOther, Transcript: claude.TranscriptNone, Moved: true}, begin + idOther + all, "", ""},
	} {
		f := test.facts
		f.Words, f.NewID = parse(t, test.words), idNew
		p, err := claude.PlanRestart(f)
		if test.kind != "" {
			if hitchpost.KindOf(err) != test.kind || !strings.Contains(err.Error(), test.say) {
				t.Errorf("%s: %+v, %v", name, p, err)
			}
			continue
		}
		if err != nil || line(p.Argv("claude", "/s")) != test.argv {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, line(p.Argv("claude", "/s")), test.argv)
		}
		p.Prompt = "--read the note"
		if got := line(p.Argv("claude", "/s")); got != test.argv+"|--|--read the note" {
			t.Errorf("%s, with a prompt: %s", name, got)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	got := claude.Environment(3, "secret", "/data/hooks")
	for _, want := range []string{
		"CLAUDE_CODE_DISABLE_AGENT_VIEW=1", "CLAUDE_CODE_TMUX_TRUECOLOR=1", "HITCHPOST_RUN=3", "HITCHPOST_HOOK_TOKEN=secret",
		"HITCHPOST_HOOK_DIR=/data/hooks",
	} {
		if !strings.Contains("\n"+strings.Join(got, "\n")+"\n", "\n"+want+"\n") {
			t.Errorf("%q lacks %s", got, want)
		}
	}
}

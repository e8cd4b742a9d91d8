package menu

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

func TestWordsOfAnAgent(t *testing.T) {
	t.Parallel()
	s := hitchpost.Session{
		Handle: "api", Title: "API", Kind: hitchpost.Claude, Cwd: "/srv", State: hitchpost.WaitingForInput, ConversationID: "c-1",
		StateReason: "question: \x1b[31mred\u202e?", StateSource: hitchpost.FromHook, StateSince: testNow,
		Agent: &hitchpost.Agent{Title: "fix\x1b]0;x\x07 it", Uncertain: "one says idle,\nthe other busy", Hooks: hitchpost.HooksNotSeen},
	}
	want := []string{"uncertain: one says idle,\ufffdthe other busy", "its hooks are not seen", "on: fix\ufffd]0;x\ufffd it"}
	if d := cmp.Diff(want, agentStory(s)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if got := story(s, testNow); !strings.HasSuffix(got, "(hook, uncertain)") || strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("%q", got)
	}
	if got := waitsFor(s); got != "question: \ufffd[31mred\ufffd?" {
		t.Errorf("%q", got)
	}
	// Of a process that is gone nothing is uncertain.
	s.State = hitchpost.Recoverable
	if got := agentStory(s); len(got) != 1 || strings.Contains(story(s, testNow), "uncertain") || waitsFor(s) != "" {
		t.Errorf("%q, %q", got, story(s, testNow))
	}
	if got := offer(s, true); !strings.Contains(got, "r starts claude with its conversation in /srv;") {
		t.Errorf("%q", got)
	}
	s.Agent, s.ConversationID = nil, ""
	if got := agentStory(s); got != nil || !strings.Contains(offer(s, true), "r starts claude again in /srv;") {
		t.Errorf("%q, %q", got, offer(s, true))
	}
}

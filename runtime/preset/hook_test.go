package preset_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hitchpost/hitchpost/runtime/preset"
)

func TestDecodeEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		preset, event string
		want          preset.News
	}{
		{
			"codex", `{"type":"agent-turn-complete","thread-id":"01a2-b","turn-id":"1","cwd":"/x","input-messages":["hi"]}`,
			preset.News{Event: "agent-turn-complete", Means: preset.Attention, Reason: "turn finished"},
		},
		{
			"opencode", `{"event":"idle","conversation":"--continue"}`,
			preset.News{Event: "idle", Means: preset.Finished, Reason: "turn finished"},
		},
		{
			"gemini", `{"session_id":"a-1","hook_event_name":"Notification","message":"run\n\u001b[2Jx"}`,
			preset.News{Event: "Notification", Means: preset.Waits, Reason: "permission: run \x1b[2Jx", Conversation: "a-1"},
		},
		{"gemini", `{"hook_event_name":"BeforeAgent","session_id":7}`, preset.News{Event: "BeforeAgent", Means: preset.Works}},
		{
			"gemini", `{"hook_event_name":"AfterAgent"}`,
			preset.News{Event: "AfterAgent", Means: preset.Finished, Reason: "turn finished"},
		},
		{
			"opencode", `{"event":"permission.asked","detail":"bash","conversation":"ses_1"}`,
			preset.News{Event: "permission.asked", Means: preset.Waits, Reason: "permission: bash", Conversation: "ses_1"},
		},
		{
			"opencode", `{"event":"permission.asked","detail":"` + strings.Repeat("ä", 300) + `"}`,
			preset.News{Event: "permission.asked", Means: preset.Waits, Reason: "permission: " + strings.Repeat("ä", 100)},
		},
		{"opencode", `{"event":"busy"}`, preset.News{Event: "busy", Means: preset.Works}},
		{"aider", "ignored", preset.News{Means: preset.Attention, Reason: "waits for input"}},
	} {
		p := find(t, "", c.preset)
		words, stdin := []string{c.event}, iotest.ErrReader(errors.New("stdin is the person's"))
		if p.Hook.Input == "stdin" {
			words, stdin = nil, strings.NewReader(c.event)
		}
		if got, err := p.Decode(words, stdin); err != nil || got != c.want {
			t.Errorf("%s %s:\n%+v, %v, want\n%+v", c.preset, c.event, got, err, c.want)
		}
	}
}

func TestDecodeWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	gemini, codex := find(t, "", "gemini"), find(t, "", "codex")
	for text, none := range map[string]bool{
		`{"hook_event_name":"SessionStart"}`: true, `{}`: true, `[]`: true, `null`: true, `7`: true, `{"hook_event_name":{}}`: true,
		`{"hook_event_name":""}`: true, ``: false, `{`: false, `{} {}`: false, strings.Repeat(" ", 1<<20+1): false,
		strings.Repeat("[", 100_000): false,
	} {
		if n, err := gemini.Decode(nil, strings.NewReader(text)); err == nil || errors.Is(err, preset.ErrNoNews) != none {
			t.Errorf("%.40q: %+v, %v", text, n, err)
		}
	}
	for _, words := range [][]string{nil, {""}, {strings.Repeat(" ", 1<<20+1)}} {
		if n, err := codex.Decode(words, nil); err == nil || errors.Is(err, preset.ErrNoNews) {
			t.Errorf("%d words: %+v, %v", len(words), n, err)
		}
	}
	if n, err := (preset.Preset{}).Decode(nil, nil); !errors.Is(err, preset.ErrNoNews) {
		t.Errorf("without a hook: %+v, %v", n, err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"hook_event_name":"Notification","message":"x","session_id":"y"}`)
	set, err := preset.Load("")
	if err != nil {
		f.Fatal(err)
	}
	p, err := set.Find("gemini")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := p.Decode(nil, strings.NewReader(text))
		if err == nil && (n.Means == "" || strings.HasPrefix(n.Conversation, "-") || len(n.Reason) > 300 ||
			strings.ContainsAny(n.Reason, "\n\r")) {
			t.Errorf("%q: %+v", text, n)
		}
	})
}

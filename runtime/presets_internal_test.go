package runtime

import (
	"slices"
	"testing"

	"github.com/kballard/go-shellquote"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/preset"
)

// Once its hook told the conversation, a Restart opens that one, unless the person said what to run.
func TestPresetResumesItsOwnConversation(t *testing.T) {
	t.Parallel()
	set, err := preset.Load("")
	if err != nil {
		t.Fatal(err)
	}
	p, err := set.Find("opencode")
	if err != nil {
		t.Fatal(err)
	}
	v := preset.Values{Hook: []string{"/bin/hitchpost", "hook"}, Session: "id", Folder: "/folder", Conversation: "ses_1"}
	words := []string{"--model", "a/b", "--prompt", "fix it"}
	session := hitchpost.Session{Args: p.Start(v, words), RestartCommand: shellquote.Join(p.Restart(preset.Values{}, words)...)}
	if got, want := resumed(p, v, session), []string{"opencode", "--session", "ses_1", "--model", "a/b"}; !slices.Equal(got, want) {
		t.Errorf("a Restart runs %q, want %q", got, want)
	}
	session.RestartCommand = "opencode"
	if got := resumed(p, v, session); got != nil {
		t.Errorf("against the person's word: %q", got)
	}
	if got := resumed(p, v, hitchpost.Session{Args: []string{"other"}}); got != nil {
		t.Errorf("of another program: %q", got)
	}
}

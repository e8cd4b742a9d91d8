package runtime_test

import (
	"testing"

	"github.com/hitchpost/hitchpost"
)

// Claude Code takes an Enter that comes together with a text for a part of it.
func TestSendGivesAnAgentItsPrompt(t *testing.T) {
	t.Parallel()
	d := newDen(t)
	s := d.begin("prompted")
	for _, word := range []string{"one", "two"} {
		got, err := d.Send(t.Context(), admin, s.ID, hitchpost.SendRequest{Text: "@say " + word, Keys: []string{"Enter"}})
		must(t, err)
		if !got.Seen {
			t.Error("not seen to arrive:", word)
		}
		d.is(s.ID, "the answer "+word, func(s hitchpost.Session) bool { return s.Agent.LastAnswer == word })
	}
	_, err := d.Stop(t.Context(), admin, s.ID, hitchpost.StopRequest{})
	must(t, err)
}

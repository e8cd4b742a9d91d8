package hitchpost_test

import (
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

func TestNameAgents(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("x", 3600))
	api := hitchpost.OtherProcess{Session: "api", Agent: "claude"}
	for want, list := range map[string][]hitchpost.OtherProcess{
		"":                     nil,
		"session api (claude)": {api},
		"session api (codex, process 7, since 2026-03-04 04:06:07Z)": {{Session: "api", Agent: "codex", Pid: 7, Since: since}},
		"aider (process 8, since 2026-03-04 04:06:07Z)":              {{Agent: "aider", Program: "python3", Pid: 8, Since: since}},
		"x\ufffd[1m": {{Program: "x\x1b[1m"}},
		"session api (claude), session api (claude), session api (claude), 2 more": {api, api, api, api, api},
	} {
		if got := hitchpost.NameAgents(list); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package sshd_test

import (
	"testing"

	"github.com/hitchpost/hitchpost"
)

// comeBack opens a terminal without a command, as `hitchpost connect` does after a drop.
func comeBack(t *testing.T, s *server, client string) *terminal {
	t.Helper()
	tm := open(t, s.client("alice"))
	tm.ask("env", pair("HITCHPOST_CLIENT", client))
	tm.ask("env", pair("HITCHPOST_RECONNECT", "1"))
	return tm.shell()
}

func TestAReconnectingClientGoesStraightBackIntoItsSession(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("web")
	s.service.add("api")
	s.service.lastOf = map[string]string{"laptop": "id-api"}
	tm := comeBack(t, s, "laptop")
	v := <-s.service.made
	if r := s.service.requests[0]; r.Ref != "id-api" || r.Client != "laptop" || !r.Clear {
		t.Errorf("request %+v", r)
	}
	tm.typeIn("keys\x1d")
	if status := tm.exit(); status != 0 || v.input() != "keys" {
		t.Errorf("status %d, typed %q", status, v.input())
	}
	if runs, _ := s.picker.counts(); runs != 0 {
		t.Error("the picker was shown")
	}
}

func TestAReconnectingClientWithoutASessionGetsThePicker(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client, notice string
		attach         error
	}{
		"never attached": {"phone", "this client was in no session", nil},
		"no id":          {"", "this client was in no session", nil},
		"session closed": {"old", "the session that this client was in is gone", nil},
		"session ended": {"laptop", "api is STOPPED: restart it",
			hitchpost.Errorf(hitchpost.ConflictError, "api is STOPPED").Hinted("restart it")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			s.service.add("api")
			s.service.lastOf = map[string]string{"laptop": "id-api", "old": "id-gone", "": "id-api"}
			s.service.attach = c.attach
			tm := comeBack(t, s, c.client)
			tm.shows(c.notice)
			tm.typeIn("q")
			if status := tm.exit(); status != 0 {
				t.Errorf("status %d", status)
			}
		})
	}
}

// It comes once more by itself.
func TestAReconnectingClientIsSentAwayWhileTheServiceIsNotReady(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.service.add("api")
	s.service.lastOf = map[string]string{"laptop": "id-api"}
	s.service.attach = hitchpost.Errorf(hitchpost.UnavailableError, "tmux does not answer").Hinted("try again")
	if status := comeBack(t, s, "laptop").exit(); status != 75 {
		t.Errorf("status %d", status)
	}
}

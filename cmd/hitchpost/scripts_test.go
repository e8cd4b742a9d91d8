package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/hitchpost/hitchpost"
)

// TestScripts runs what people write around `ssh host`: each file of testdata/scripts is one use, with the script as a
// file of its own, that a shell runs with the OpenSSH client and a host called hp. They share one server.
func TestScripts(t *testing.T) {
	t.Parallel()
	s := start(t)
	client, err := exec.LookPath("ssh")
	must(t, err)
	// What a person has in ~/.ssh/config, which ssh looks for in the home that the system knows, whatever HOME says.
	options := s.sshArgs()
	options = options[:len(options)-1]
	must(t, os.Mkdir(s.path("bin"), 0o700))
	must(t, os.WriteFile(s.path("bin/ssh"), fmt.Appendf(nil, "#!/bin/sh\nexec '%s' '%s' -o HostName=127.0.0.1 \"$@\"\n", client,
		strings.Join(options, "' '")), 0o700))
	testscript.Run(t, testscript.Params{
		Dir: "testdata/scripts", RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("PATH", s.path("bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			e.Setenv("SERVER_HOME", s.path("home"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"waits": s.waits},
	})
}

// waits HANDLE AGO puts a live session into the state WAITING_FOR_INPUT, that long ago.
func (s *stack) waits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: waits HANDLE AGO")
	}
	ago, err := hitchpost.ParseDuration(args[1])
	ts.Check(err)
	ts.Check(s.execute(`update terminal_sessions set state = 'WAITING_FOR_INPUT', state_reason = 'may it go on?',
		state_source = 'hook', state_since = now() - make_interval(secs => $2) where handle = $1 and state = 'DETACHED'`,
		args[0], ago.Seconds()))
}

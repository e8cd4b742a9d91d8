package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/hitchpost/hitchpost"
)

// sshCall is a command line of connect, taken apart as ssh takes its own apart.
type sshCall struct {
	options []string // ssh's, as given
	host    string   // with the user, or a URI
	ref     string   // may be empty
}

// The option letters of ssh(1), OpenSSH 9.9. -P takes a value since 9.4; before that it did nothing.
const (
	sshFlags     = "1246AaCfGgKkMNnqsTtVvXxYy"
	sshValues    = "BbcDEeFIiJLlmOoPpQRSWw"
	sshSessions  = "fGNnQsTVOW" // these give no session on this terminal
	sshNoSession = "hitchpost connect opens a session on this terminal: leave -%c out, or use ssh itself"
)

// parseSSHCall finds HOST and REF among ssh's options, which may also stand between and behind them.
func parseSSHCall(args []string) (sshCall, error) {
	var call sshCall
	var words []string
	for len(args) > 0 {
		word := args[0]
		switch {
		case word == "--":
			words, args = append(words, args[1:]...), nil
			continue
		case len(word) < 2 || word[0] != '-':
			// As in ssh, a command ends the options; here that is the word after HOST.
			words, args = append(words, word), args[1:]
			continue
		}
		n, err := optionWords(args)
		if err != nil {
			return call, err
		}
		call.options, args = append(call.options, args[:n]...), args[n:]
	}
	switch {
	case len(words) == 0 || words[0] == "":
		return call, connectUsage("no host is named")
	case len(words) > 2:
		return call, connectUsage("%q is one word too many", words[2])
	case strings.HasPrefix(words[0], "-"):
		return call, connectUsage("%q is no host", words[0])
	}
	call.host = words[0]
	if len(words) == 2 {
		call.ref = words[1]
	}
	return call, nil
}

// optionWords is how many words the option group at the head of args takes: letters may share a word, and a value
// may stand in the same word or the next; getopt(3).
func optionWords(args []string) (int, error) {
	if strings.HasPrefix(args[0], "--") {
		return 0, connectUsage("%q is no option of ssh", args[0])
	}
	for i, letter := range args[0][1:] {
		switch {
		case strings.ContainsRune(sshSessions, letter):
			return 0, hitchpost.Errorf(hitchpost.UsageError, sshNoSession, letter)
		case strings.ContainsRune(sshFlags, letter):
			continue
		case !strings.ContainsRune(sshValues, letter):
			return 0, connectUsage("-%c is no option of ssh", letter)
		case i+2 < len(args[0]):
			return 1, nil
		case len(args) < 2:
			return 0, connectUsage("-%c needs a value", letter)
		default:
			return 2, nil
		}
	}
	return 1, nil
}

func connectUsage(format string, args ...any) error {
	return hitchpost.Errorf(hitchpost.UsageError, "%s", fmt.Sprintf(format, args...)).Hinted("see hitchpost connect --help")
}

// What this client sends of itself, as environment variables.
const (
	clientVariable    = "HITCHPOST_CLIENT"    // an id, the same for every connection of one run
	reconnectVariable = "HITCHPOST_RECONNECT" // 1: go straight back into the session that this client was in
)

// arguments is the command line for ssh. What is added stands behind the options given, since the first value of an
// option counts (ssh_config(5)); SendEnv alone adds up, also with the configuration, which SetEnv does not.
func (c sshCall) arguments(keepAlive, again bool) []string {
	// -t comes first so that nothing is doubled: -tt would mean more than -t.
	args := slices.Concat([]string{"-t"}, c.options, []string{"-o", "SendEnv=" + clientVariable + " " + reconnectVariable})
	if keepAlive {
		args = append(args, "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3")
	}
	// A connection that another ssh holds open would be that ssh's to notice dead.
	args = append(args, "-o", "ControlPath=none")
	if again {
		args = append(args, "-o", "ConnectTimeout=10")
	}
	if c.ref == "" {
		return append(args, "--", c.host)
	}
	args = append(args, "-o", "RemoteCommand=none")
	if again && c.ref == "last" {
		// By now that may be another session, of another client with this key; the server knows this one's.
		return append(args, "--", c.host)
	}
	// The words of the command are a line by the time the server splits them.
	return append(args, "--", c.host, "attach", shellquote.Join(c.ref))
}

// keepAliveSet reads what `ssh -G` printed. Debian's ssh has a default of 300 s in batch mode, which is as good as
// nothing here.
func keepAliveSet(configuration string) bool {
	values := map[string]string{}
	for line := range strings.Lines(configuration) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		values[name] = value
	}
	interval := values["serveraliveinterval"]
	return interval != "" && interval != "0" && !(interval == "300" && values["batchmode"] == "yes")
}

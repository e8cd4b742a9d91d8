package sshd

import (
	charm "charm.land/ssh"
	gossh "golang.org/x/crypto/ssh"
)

// maxCommand is the longest command line that is taken.
const maxCommand = 1 << 20

// handle answers one request of the channel, exactly once where an answer is wanted, and never blocks for long: as long
// as it does the client's other channels stand still too. Unknown requests, the private ones of PuTTY among them, fail and
// change nothing.
func (s *session) handle(req *gossh.Request) {
	_ = req.Reply(s.accept(req), nil)
	if !s.started && s.ready {
		s.started = true
		s.conn.net.running()
		s.start("session", s.run)
	}
}

// accept does what the request asks for and tells whether that was possible.
func (s *session) accept(req *gossh.Request) bool {
	switch req.Type {
	case "pty-req":
		return s.ptyRequest(req.Payload)
	case "env":
		var kv struct{ Name, Value string }
		return !s.started && gossh.Unmarshal(req.Payload, &kv) == nil && s.env.set(kv.Name, kv.Value)
	case "shell":
		return s.begin("")
	case "exec":
		var exec struct{ Command string }
		return gossh.Unmarshal(req.Payload, &exec) == nil && len(exec.Command) <= maxCommand && s.begin(exec.Command)
	case "subsystem":
		s.refuseSubsystem(req.Payload)
		return false
	case "window-change":
		size, ok := parseSize(req.Payload)
		if ok && s.terminal {
			s.sizes.set(size)
		}
		return ok && s.terminal
	case "signal":
		var sig struct{ Name string }
		if gossh.Unmarshal(req.Payload, &sig) != nil {
			return false
		}
		s.signals.send(charm.Signal(sig.Name))
		return true
	case "keepalive@openssh.com":
		return true
	}
	return false
}

// begin notes that the session may start, which it does after the answer has been sent: PuTTY types nothing before
// that.
func (s *session) begin(command string) bool {
	if s.started {
		return false
	}
	s.command, s.ready = command, true
	return true
}

func (s *session) ptyRequest(payload []byte) bool {
	var pty struct {
		Term string
		Rest []byte `ssh:"rest"`
	}
	if s.started || s.terminal || gossh.Unmarshal(payload, &pty) != nil {
		return false
	}
	size, ok := parseSize(pty.Rest)
	if !ok {
		return false
	}
	s.terminal = true
	s.term = terminalName(pty.Term)
	s.modes = parseModes(pty.Rest[16:])
	s.sizes.set(size)
	s.text, s.errText = &cooked{w: s.out}, &cooked{w: s.errOut}
	return true
}

// refuseSubsystem says in one line what is not there, before the answer: after that the client closes the channel.
func (s *session) refuseSubsystem(payload []byte) {
	var sub struct{ Name string }
	if s.started || s.refusals > 0 || gossh.Unmarshal(payload, &sub) != nil {
		return
	}
	s.refusals++
	s.farewell(noSubsystem(sub.Name))
}

// parseModes reads the encoded terminal modes of a pty-req (RFC 4254 section 8).
func parseModes(p []byte) gossh.TerminalModes {
	var list struct{ Modes string }
	modes := gossh.TerminalModes{}
	if gossh.Unmarshal(p, &list) != nil {
		return modes
	}
	const end = 0
	m := []byte(list.Modes)
	for len(m) >= 5 && m[0] != end && m[0] < 160 {
		modes[m[0]] = uint32(m[1])<<24 | uint32(m[2])<<16 | uint32(m[3])<<8 | uint32(m[4])
		m = m[5:]
	}
	return modes
}

// terminalName is a client's TERM as long as it can be one: what else a client may send is not passed on.
func terminalName(name string) string {
	if len(name) > 128 {
		return ""
	}
	for _, b := range []byte(name) {
		if b <= ' ' || b >= 0x7f || b == '/' {
			return ""
		}
	}
	return name
}

package main

import "strings"

// The units. The tmux server has one of its own, so that whatever happens to the service's control group happens to no
// session: a stop, an upgrade, a crash, a limit.
const (
	serveUnit = "hitchpost.service"
	tmuxUnit  = "hitchpost-tmux.service"
)

// systemdUnits are the texts of the units, by name.
func systemdUnits(in installation) map[string]string {
	target, account, network, edit := "default.target", "", "", "systemctl --user edit"
	if in.System {
		// With User= the manager sets HOME and SHELL, which sessions are made from; systemd.exec(5).
		target, account, edit = "multi-user.target", "User=root\n", "systemctl edit"
		network = "Wants=network-online.target\nAfter=network-online.target\n"
	}
	fill := strings.NewReplacer(
		"@SEAL@", noSeal, "@EDIT@", edit, "@TARGET@", target, "@ACCOUNT@\n", account, "@NETWORK@\n", network,
		"@PATH@", unitWord("PATH="+in.Path), "@ENVFILE@", unitPath(in.EnvFile),
		"@TMUX@", unitCommand(append([]string{in.Binary}, startTmuxVerb, "--data-dir", in.DataDir)),
		"@SERVE@", unitCommand(append([]string{in.Binary, "serve", "--data-dir", in.DataDir}, in.Flags...)),
	)
	return map[string]string{
		serveUnit: seal(fill.Replace(serveTemplate)),
		tmuxUnit:  seal(fill.Replace(tmuxTemplate)),
	}
}

const serveTemplate = `# Written by hitchpost service install, @SEAL@. Change it with: @EDIT@ ` + serveUnit + `
[Unit]
Description=Hitchpost, terminal sessions that outlive the connection
Documentation=https://github.com/hitchpost/hitchpost
# Wanted, not required: neither stopping nor restarting one of the two reaches the other. On the way down this one stops
# first, so that nobody sees the sessions end one by one.
Wants=` + tmuxUnit + `
After=` + tmuxUnit + `
@NETWORK@
# A database that is away for an hour is no reason to give up.
StartLimitIntervalSec=0

[Service]
Type=exec
ExecStart=@SERVE@
@ACCOUNT@
Environment=@PATH@
EnvironmentFile=-@ENVFILE@
Restart=on-failure
RestartSec=2
# 2 means wrong settings: they do not become right by trying.
RestartPreventExitStatus=2
# Only serve gets the signal. It says goodbye to those attached, whose tmux clients must live that long, and stops its
# PostgreSQL. Should the tmux server have been started from here, it lives on too.
KillMode=process
TimeoutStopSec=20
OOMPolicy=continue

[Install]
WantedBy=@TARGET@
`

const tmuxTemplate = `# Written by hitchpost service install, @SEAL@. Change it with: @EDIT@ ` + tmuxUnit + `
[Unit]
Description=Hitchpost's sessions; stopping this ends all of them
Documentation=https://github.com/hitchpost/hitchpost

[Service]
# tmux becomes a daemon of its own. Where one runs already, outside of this unit, it is left there and this one ends.
Type=forking
ExecStart=@TMUX@
# First tmux alone: a program that ends because its terminal has gone is known as lost, and can be restarted. Were the
# programs told at the same time, some would count as ended by themselves.
ExecStop=/bin/sh -c 'kill -TERM "$MAINPID" && while kill -0 "$MAINPID" 2>/dev/null; do sleep 0.1; done'
TimeoutStopSec=20
@ACCOUNT@
Environment=@PATH@
EnvironmentFile=-@ENVFILE@
# A tmux server that was killed comes back empty, here and not in the unit of the service.
Restart=on-failure
RestartSec=100ms
# Memory that runs out takes the process that took it, not the unit, and systemd-oomd looks elsewhere first. There is no
# OOMScoreAdjust: every program of every session would inherit it.
OOMPolicy=continue
ManagedOOMPreference=avoid
# Sessions are people's own: as many tasks as they like, control groups below this one, and the usual SIGPIPE.
TasksMax=infinity
Delegate=yes
IgnoreSIGPIPE=no

[Install]
WantedBy=@TARGET@
`

// unitCommand is a command line as systemd splits it into exactly these words; systemd.service(5), COMMAND LINES. A
// dollar sign would begin a variable there.
func unitCommand(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = unitWord(w)
		if i > 0 { // the program itself is not expanded
			quoted[i] = strings.ReplaceAll(quoted[i], "$", "$$")
		}
	}
	return strings.Join(quoted, " ")
}

// unitWord is one word of a unit; systemd.syntax(7), QUOTING. A percent sign would begin a specifier.
func unitWord(w string) string {
	w = unitPath(w)
	if w != "" && !strings.ContainsAny(w, " \t\"'\\;") {
		return w
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
}

// unitPath is a setting that is one path, and is not split into words.
func unitPath(p string) string { return strings.ReplaceAll(p, "%", "%%") }

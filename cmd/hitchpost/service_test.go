package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		must(t, os.MkdirAll("testdata", 0o755))
		must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file (go test ./cmd/hitchpost -update writes it): %v", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s:\n%s", name, diff)
	}
}

func ofTheMachine() installation {
	return installation{
		Binary: "/usr/local/bin/hitchpost", DataDir: "/var/lib/hitchpost", Path: "/usr/local/bin:/usr/bin:/bin",
		EnvFile: "/etc/hitchpost/hitchpost.env", System: true,
	}
}

// ofAnAccount has in it all that systemd and XML would take for something else.
func ofAnAccount() installation {
	return installation{
		Binary: "/home/ada/bin & more/hitchpost", DataDir: "/home/ada/data 100%", Path: "/home/ada/.local/bin:/usr/bin",
		EnvFile: "/home/ada/.config/hitchpost/hitchpost.env", LogFile: "/home/ada/Library/Logs/hitchpost.log",
		Flags: []string{"--listen=10.0.0.5:2222", `--detach-key=C-\`},
	}
}

func TestServiceFiles(t *testing.T) {
	t.Parallel()
	for name, text := range systemdUnits(ofTheMachine()) {
		golden(t, "system-"+name, text)
	}
	for name, text := range systemdUnits(ofAnAccount()) {
		golden(t, "user-"+name, text)
	}
	plist := launchdPlist(ofAnAccount())
	golden(t, launchdFile, plist)
	for d := xml.NewDecoder(strings.NewReader(plist)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("the property list is no XML: %v", err)
		}
	}
}

// TestUnitsKeepSessionsApart holds what the units must say so that no session shares the fate of the service. That
// systemd then does it is for TestSystemdKeepsSessionsApart to see.
func TestUnitsKeepSessionsApart(t *testing.T) {
	t.Parallel()
	for _, in := range []installation{ofTheMachine(), ofAnAccount()} {
		units := systemdUnits(in)
		serve, sessions := units[serveUnit], units[tmuxUnit]
		for _, want := range []string{"KillMode=process\n", "OOMPolicy=continue\n", "Wants=" + tmuxUnit, "After=" + tmuxUnit} {
			if !strings.Contains(serve, want) {
				t.Errorf("%s lacks %q", serveUnit, want)
			}
		}
		for _, want := range []string{"OOMPolicy=continue\n", "ManagedOOMPreference=avoid\n", "Type=forking\n", "ExecStart="} {
			if !strings.Contains(sessions, want) {
				t.Errorf("%s lacks %q", tmuxUnit, want)
			}
		}
		for name, text := range units {
			for _, bad := range []string{"PartOf=", "BindsTo=", "Requires=", "PropagatesStopTo=", "PrivateTmp=", "MemoryMax=", "@"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s has %s", name, bad)
				}
			}
		}
	}
}

func TestUnitWords(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		"plain": "plain", "": `""`, "a b": `"a b"`, `a"b`: `"a\"b"`, `a\b`: `"a\\b"`, "50%": "50%%", "it's": `"it's"`, "a;b": `"a;b"`,
	} {
		if got := unitWord(word); got != want {
			t.Errorf("%q becomes %s, want %s", word, got, want)
		}
	}
	if got := unitCommand([]string{"/a$b", "$c"}); got != "/a$b $$c" {
		t.Errorf("dollars: %s", got)
	}
}

// manager notes what it is asked.
type manager struct {
	missing bool
	asked   []string
}

func (m *manager) there() error {
	if m.missing {
		return hitchpost.Errorf(hitchpost.FailedError, "nobody is there")
	}
	return nil
}
func (m *manager) start(context.Context) error    { m.asked = append(m.asked, "start"); return nil }
func (m *manager) stop(context.Context) error     { m.asked = append(m.asked, "stop"); return nil }
func (m *manager) forget(context.Context) error   { m.asked = append(m.asked, "forget"); return nil }
func (m *manager) notes(context.Context) []string { return []string{"a note"} }

func TestServiceInstallAndUninstall(t *testing.T) {
	t.Parallel()
	m := &manager{}
	place := servicePlace{dir: filepath.Join(t.TempDir(), "systemd", "user"), manager: m}
	var out bytes.Buffer
	p := &program{streams: streams{out: &out, err: &out}, getenv: func(string) string { return "" }}
	ctx := t.Context()

	m.missing = true
	if err := p.install(ctx, place, place.files(ofAnAccount())); err == nil {
		t.Error("installed where nobody runs services")
	}
	if _, err := os.Stat(place.dir); err == nil {
		t.Error("something was written where nobody runs services")
	}
	m.missing = false
	if err := p.uninstall(ctx, place); hitchpost.KindOf(err) != hitchpost.NotFoundError {
		t.Errorf("nothing to uninstall: %v", err)
	}

	for range 2 { // the second time is an upgrade
		must(t, p.install(ctx, place, place.files(ofAnAccount())))
	}
	foreign := filepath.Join(place.dir, "other.service")
	dropIn := filepath.Join(place.dir, serveUnit+".d", "override.conf")
	must(t, os.MkdirAll(filepath.Dir(dropIn), 0o755))
	must(t, writeFile(foreign, "[Service]\n"))
	must(t, writeFile(dropIn, "[Service]\n"))
	unit := filepath.Join(place.dir, serveUnit)
	info, err := os.Stat(unit)
	must(t, err)
	if info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v", info.Mode())
	}

	// By hand means: hands off.
	text, err := os.ReadFile(unit)
	must(t, err)
	must(t, writeFile(unit, string(text)+"Nice=5\n"))
	before := strings.Join(m.asked, " ")
	if err := p.install(ctx, place, place.files(ofAnAccount())); hitchpost.KindOf(err) != hitchpost.ConflictError {
		t.Errorf("install over a changed file: %v", err)
	}
	if err := p.uninstall(ctx, place); hitchpost.KindOf(err) != hitchpost.ConflictError {
		t.Errorf("uninstall of a changed file: %v", err)
	}
	if now := strings.Join(m.asked, " "); now != before {
		t.Errorf("asked %q before the refusal", now)
	}
	must(t, os.WriteFile(unit, text, 0o600))

	must(t, p.uninstall(ctx, place))
	if got := strings.Join(m.asked, " "); got != "start start stop forget" {
		t.Errorf("asked %q", got)
	}
	for path, want := range map[string]bool{unit: false, filepath.Join(place.dir, tmuxUnit): false, foreign: true, dropIn: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s is there: %v", path, err == nil)
		}
	}
	if !strings.Contains(out.String(), "a note") {
		t.Errorf("no note in %q", out.String())
	}
}

// A word too many is a mistake of the command line, for service as for every other command.
func TestServiceTakesNoWords(t *testing.T) {
	t.Parallel()
	for _, words := range []string{"service nonsense", "service install nonsense", "service uninstall nonsense",
		"start-tmux nonsense", "doctor nonsense"} {
		var out bytes.Buffer
		status := run(t.Context(), strings.Fields(words), func(string) string { return "" }, streams{out: &out, err: &out})
		if want := hitchpost.UsageError.ExitStatus(); status != want || !strings.Contains(out.String(), `no "nonsense"`) {
			t.Errorf("%s: exit status %d instead of %d: %s", words, status, want, out.String())
		}
	}
}

// TestSystemdIsToldNoMore records the words for systemctl: the sessions' unit is never stopped or restarted.
func TestSystemdIsToldNoMore(t *testing.T) {
	t.Parallel()
	var said []string
	answers := map[string]string{}
	run := func(_ context.Context, name string, args ...string) (string, error) {
		line := name + " " + strings.Join(args, " ")
		said = append(said, line)
		if a, ok := answers[line]; ok {
			return a, nil
		}
		if name == "loginctl" {
			return "", errors.New("not logged in")
		}
		return "", nil
	}
	s := systemd{run: run, user: "nobody-of-that-name"}
	must(t, s.start(t.Context()))
	must(t, s.stop(t.Context()))
	must(t, s.forget(t.Context()))
	want := []string{
		"systemctl --user daemon-reload", "systemctl --user enable hitchpost-tmux.service hitchpost.service",
		"systemctl --user start hitchpost-tmux.service", "systemctl --user restart hitchpost.service",
		"systemctl --user disable --now hitchpost.service", "systemctl --user disable hitchpost-tmux.service",
		"systemctl --user daemon-reload",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Error(diff)
	}
	if notes := strings.Join(s.notes(t.Context()), "\n"); !strings.Contains(notes, "loginctl enable-linger nobody-of-that-name") {
		t.Errorf("without lingering: %s", notes)
	}
	answers["loginctl show-user --property=Linger --value -- nobody-of-that-name"] = "yes"
	if notes := strings.Join(s.notes(t.Context()), "\n"); strings.Contains(notes, "linger") {
		t.Errorf("with lingering: %s", notes)
	}
}

func TestServicePrint(t *testing.T) {
	t.Parallel()
	s := prepare(t)
	print := func(env []string, args ...string) answer {
		cmd := exec.Command(built, append([]string{"service", "install", "--print"}, args...)...)
		var out, errs bytes.Buffer
		cmd.Env, cmd.Stdout, cmd.Stderr = append(s.env, env...), &out, &errs
		_ = cmd.Run()
		return answer{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	}
	got := print([]string{"HITCHPOST_REPLAY_LINES=500"}, "--data-dir", "/srv/hp", "--listen", "10.0.0.5:2222")
	for _, want := range []string{built + " serve --data-dir /srv/hp --listen=10.0.0.5:2222 --replay-lines=500", built + " start-tmux --data-dir /srv/hp"} {
		if got.code != 0 || !strings.Contains(got.out, want) {
			t.Errorf("exit %d, no %q in\n%s%s", got.code, want, got.out, got.err)
		}
	}
	got = print(nil, "--database-url", "postgres://u:secret@db/x")
	if got.code != 2 || strings.Contains(got.out+got.err, "secret") {
		t.Errorf("a secret: %+v", got)
	}
	if got = print(nil, "--listen"); got.code != 2 {
		t.Errorf("bad words: %+v", got)
	}
}

// TestStartTmux: the server that start-tmux has started is the one that serve uses, and outlives it.
func TestStartTmux(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.down(syscall.SIGTERM)
	s.killTmux()
	for range 2 { // the second finds the first
		cmd := exec.Command(built, "start-tmux", "--data-dir", s.path("data"))
		cmd.Env = s.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("start-tmux: %v\n%s", err, out)
		}
	}
	pid := s.tmuxPids()[0]
	s.up()
	s.counter("job")
	s.down(syscall.SIGKILL)
	if now := s.tmuxPids()[0]; now != pid || !alive(pid) {
		t.Errorf("tmux is process %d, was %d", now, pid)
	}
	s.up()
	s.becomes("job", "DETACHED")
	// What ExecStop does to the sessions' unit: they are lost, and not ended.
	must(t, syscall.Kill(pid, syscall.SIGTERM))
	s.becomes("job", "RECOVERABLE")
}

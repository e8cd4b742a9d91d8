package launch_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/launch"
)

func TestProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"one/tool": 0o600, "two/tool": 0o700, "two/only": 0o700, "two/text": 0o600,
		"work/here": 0o700} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := put(name, "", mode)(dir); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.Mkdir(filepath.Join(dir, "one/only"), 0o700), syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	work, path := filepath.Join(dir, "work"), filepath.Join(dir, "one")+":"+filepath.Join(dir, "two")
	tests := []struct {
		argv0, want string
		cause       error
		say         string
	}{
		{"tool", "two/tool", nil, ""}, // what cannot be run is passed over
		{"only", "two/only", nil, ""},
		{"./here", "work/here", nil, ""},
		{"../two/tool", "two/tool", nil, ""},
		{filepath.Join(dir, "two/tool"), "two/tool", nil, ""},
		{"here", "", fs.ErrNotExist, `"here": command not found: check the spelling`},
		{"text", "", fs.ErrPermission, `"text" is not executable: make it so with chmod +x`},
		{"./gone", "", fs.ErrNotExist, `"./gone" does not exist`},
		{"./here/below", "", fs.ErrNotExist, `does not exist`},
		{"../one", "", fs.ErrPermission, `"../one" is a directory, not a program`},
		{"../fifo", "", fs.ErrPermission, `"../fifo" is not a program`},
		{"", "", fs.ErrNotExist, "the program has no usable name"},
		{"a\x00b", "", fs.ErrNotExist, "the program has no usable name"},
		{"no\x1b[31m", "", fs.ErrNotExist, `"no\x1b[31m": command not found`},
	}
	for _, test := range tests {
		got, err := launch.Program(test.argv0, path, work)
		if test.cause == nil {
			if err != nil || got != filepath.Join(dir, test.want) {
				t.Errorf("%q: %q, %v", test.argv0, got, err)
			}
			continue
		}
		if got != "" || !errors.Is(err, test.cause) || hitchpost.KindOf(err) != hitchpost.UsageError ||
			!strings.Contains(err.Error(), test.say) {
			t.Errorf("%q: %q, %v", test.argv0, got, err)
		}
	}
}

func TestEnvironmentIsFresh(t *testing.T) {
	t.Parallel()
	base := map[string]string{"PATH": "/opt/x/bin::relative:/usr/bin:.", "LANG": "de_DE.UTF-8", "TZ": "Europe/Berlin",
		"SECRET": "s",
		"TMUX":   "t", "SSH_AUTH_SOCK": "a", "XDG_RUNTIME_DIR": "/run/user/1", "HITCHPOST_DATABASE_URL": "postgres://"}
	got := launch.Environment(func(k string) string { return base[k] }, "/home/u", "u", "/bin/zsh", "id",
		[]string{"A=1", "A=2", "EDITOR=vi=x", "bad", "=bad", "N=\x00", "HITCHPOST_SESSION=other", "HITCHPOST_TASK=none",
			"COLORTERM="})
	want := []string{"A=2", "COLORTERM=", "EDITOR=vi=x", "HITCHPOST_SESSION=id", "HOME=/home/u", "LANG=de_DE.UTF-8",
		"LOGNAME=u",
		"PATH=/opt/x/bin:/usr/bin:/usr/local/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/home/u/.local/bin",
		"SHELL=/bin/zsh", "TERM=tmux-256color", "TZ=Europe/Berlin", "USER=u", "XDG_RUNTIME_DIR=/run/user/1"}
	for i, kv := range got { // Homebrew's directory is usual on a Mac only
		got[i] = strings.Replace(kv, ":/opt/homebrew/bin", "", 1)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestLocaleOfASessionIsUTF8(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ all, ctype, lang, want string }{
		{"", "", "", "own"},
		{"", "", "C", "own"},
		{"", "", "de_DE@euro", "own"},
		{"C", "", "de_DE.UTF-8", "own"},
		{"", "", "de_DE.utf8", "de_DE.utf8"},
		{"", "en_GB.UTF-8", "C", "en_GB.UTF-8"},
		{"fr_FR.UTF-8", "C", "C", "fr_FR.UTF-8"},
	} {
		base := map[string]string{"LC_ALL": test.all, "LC_CTYPE": test.ctype, "LANG": test.lang}
		env := launch.Environment(func(k string) string { return base[k] }, "", "", "", "", nil)
		i := slices.IndexFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "LANG=") })
		got := strings.TrimPrefix(env[i], "LANG=")
		if got == "C.UTF-8" || got == "en_US.UTF-8" {
			got = "own"
		}
		if got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}

func TestSignalNamesGoBothWays(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 31; n++ {
		name := launch.SignalName(syscall.Signal(n))
		for _, spelled := range []string{name, "SIG" + name, strings.ToLower(name), "sig" + strings.ToLower(name)} {
			if got, err := launch.ParseSignal(spelled); err != nil || int(got) != n {
				t.Errorf("%d is %q, read as %d, %v", n, spelled, got, err)
			}
		}
	}
	for name, want := range map[string]int{"KILL": 9, "9": 9, "iot": int(syscall.SIGABRT), "RTMIN": 34, "RTMIN+3": 37, "37": 37,
		"": 0, "SIG": 0, "0": 0, "-9": 0, "65": 0, "1000": 0, "RTMIN+99": 0, "RTMIN+-1": 0,
		"NOPE": 0, "SIGSIGKILL": 0, " KILL": 0} {
		if got := launch.Number(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
	if _, err := launch.ParseSignal("NOPE"); hitchpost.KindOf(err) != hitchpost.UsageError {
		t.Error(err)
	}
}

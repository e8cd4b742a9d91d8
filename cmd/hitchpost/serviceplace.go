package main

import (
	"context"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"

	"github.com/hitchpost/hitchpost"
)

// servicePlace is where the files of a service belong on this machine, and who runs it.
type servicePlace struct {
	system  bool
	dir     string
	envFile string
	logFile string
	launchd bool
	manager serviceManager
}

// serviceManager is what runs services on a machine.
type serviceManager interface {
	there() error                    // nil where it runs this machine
	start(ctx context.Context) error // takes up what was written, and starts or restarts it
	stop(ctx context.Context) error  // ends serve, and no session
	forget(ctx context.Context) error
	notes(ctx context.Context) []string // what the person should know or do
}

func (p *program) place() (servicePlace, error) {
	account, err := p.account()
	if err != nil {
		return servicePlace{}, err
	}
	config := p.getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(account.Home, ".config")
	}
	root := os.Geteuid() == 0
	run := toolOf(p.err)
	if goruntime.GOOS == "darwin" {
		place := servicePlace{launchd: true, system: root, dir: filepath.Join(account.Home, "Library", "LaunchAgents"),
			logFile: filepath.Join(account.Home, "Library", "Logs", "hitchpost.log")}
		if root {
			place.dir, place.logFile = "/Library/LaunchDaemons", "/Library/Logs/hitchpost.log"
		}
		place.manager = launchd{run: run, plist: filepath.Join(place.dir, launchdFile), uid: os.Geteuid()}
		return place, nil
	}
	place := servicePlace{system: root, dir: filepath.Join(config, "systemd", "user"),
		envFile: filepath.Join(config, "hitchpost", "hitchpost.env")}
	if root {
		place.dir, place.envFile = "/etc/systemd/system", "/etc/hitchpost/hitchpost.env"
	}
	place.manager = systemd{run: run, system: root, user: account.User}
	return place, nil
}

func (s servicePlace) files(in installation) []serviceFile {
	var texts map[string]string
	if s.launchd {
		texts = map[string]string{launchdFile: launchdPlist(in)}
	} else {
		texts = systemdUnits(in)
	}
	var files []serviceFile
	for _, path := range s.paths() {
		files = append(files, serviceFile{path, texts[filepath.Base(path)]})
	}
	return files
}

// paths are the files that install writes, sessions' first.
func (s servicePlace) paths() []string {
	names := []string{tmuxUnit, serveUnit}
	if s.launchd {
		names = []string{launchdFile}
	}
	for i, n := range names {
		names[i] = filepath.Join(s.dir, n)
	}
	return names
}

// checkDatabaseURL refuses a URL that the service would not get: it may hold a password, and everybody can read the
// files of a service.
func (s servicePlace) checkDatabaseURL(url string) error {
	if url == "" {
		return nil
	}
	if s.launchd {
		return hitchpost.Errorf(hitchpost.UsageError, "a launchd service cannot keep a database's URL secret").
			Hinted("leave --database-url out, or run serve by other means")
	}
	lines, _ := os.ReadFile(s.envFile) // missing: the variable is not in it
	if slices.ContainsFunc(strings.Split(string(lines), "\n"), func(l string) bool {
		return strings.HasPrefix(strings.TrimSpace(l), "HITCHPOST_DATABASE_URL=")
	}) {
		return nil
	}
	return hitchpost.Errorf(hitchpost.UsageError, "a database's URL may hold a password, and everybody reads a unit").
		Hinted("put HITCHPOST_DATABASE_URL=… into %s, mode 0600, and install again", s.envFile)
}

package main

import (
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hitchpost/hitchpost"
)

// settings are what the commands on the machine can be told: by flag, else by environment, else the default.
type settings struct {
	Listen         string
	DataDir        string
	DatabaseURL    string
	ReplayLines    int
	EventRetention time.Duration
	TaskRetention  time.Duration
	TaskSpace      int64 // bytes
	ReconcileEvery time.Duration
	DetachKey      string
	ImportKeys     bool
	LogFormat      string
}

// option is one setting: its flag, the environment variable behind it, its default, and what it is for.
type option struct {
	flag, env, preset, usage string
	set                      func(*settings, string) error
}

// storeOptions are the settings of every command that works with the store.
func storeOptions(getenv func(string) string) []option {
	return []option{
		{"data-dir", "HITCHPOST_DATA_DIR", defaultDataDir(getenv), "where all state of this node lies", setDataDir},
		{"database-url", "HITCHPOST_DATABASE_URL", "", "PostgreSQL to use; empty: a private one under the data directory",
			func(s *settings, v string) error { s.DatabaseURL = v; return nil }},
		{"log-format", "HITCHPOST_LOG_FORMAT", "text", "text or json", setLogFormat},
	}
}

// serveOptions are all settings of serve, in the order of its help.
func serveOptions(getenv func(string) string) []option {
	return append(storeOptions(getenv), []option{
		{"listen", "HITCHPOST_LISTEN", "127.0.0.1:2222", "address to let people in at", setListen},
		{"replay-lines", "HITCHPOST_REPLAY_LINES", "20000", "lines of history sent at an attach", setReplayLines},
		{"event-retention", "HITCHPOST_EVENT_RETENTION", "90d", "how long events are kept",
			duration(func(s *settings) *time.Duration { return &s.EventRetention })},
		{"task-retention", "HITCHPOST_TASK_RETENTION", "30d", "how long tasks are kept after their end",
			duration(func(s *settings) *time.Duration { return &s.TaskRetention })},
		{"task-space", "HITCHPOST_TASK_SPACE", "4GiB", "what the files of ended tasks may take; the oldest go first",
			setTaskSpace},
		{"reconcile-every", "HITCHPOST_RECONCILE_EVERY", "15s", "how often the store is held against tmux",
			duration(func(s *settings) *time.Duration { return &s.ReconcileEvery })},
		{"detach-key", "HITCHPOST_DETACH_KEY", "C-]", "key that leaves a session",
			func(s *settings, v string) error { s.DetachKey = v; return nil }},
		{"import-keys", "HITCHPOST_IMPORT_KEYS", "true", "on a first start let the account's own keys in as admin",
			setImportKeys},
	}...)
}

// addFlags gives cmd the flags of opts, and returns what reads the settings once the flags are parsed.
func addFlags(cmd *cobra.Command, opts []option, getenv func(string) string) func() (settings, error) {
	for _, o := range opts {
		cmd.Flags().String(o.flag, o.preset, o.usage+" ["+o.env+"]")
	}
	return func() (settings, error) {
		var s settings
		for _, o := range opts {
			value, from := o.preset, "the default of --"+o.flag
			if v := getenv(o.env); v != "" {
				value, from = v, o.env
			}
			if f := cmd.Flags().Lookup(o.flag); f.Changed {
				value, from = f.Value.String(), "--"+o.flag
			}
			if err := o.set(&s, value); err != nil {
				return settings{}, hitchpost.Errorf(hitchpost.UsageError, "%s: %w", from, err).
					Hinted("see hitchpost %s --help", cmd.Name())
			}
		}
		return s, nil
	}
}

func defaultDataDir(getenv func(string) string) string {
	if os.Geteuid() == 0 {
		return "/var/lib/hitchpost"
	}
	state := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // the XDG base directory specification has relative ones ignored
		state = filepath.Join(getenv("HOME"), ".local", "state")
	}
	return filepath.Join(state, "hitchpost")
}

func setDataDir(s *settings, v string) error {
	if v == "" {
		return fmt.Errorf("empty")
	}
	abs, err := filepath.Abs(v)
	s.DataDir = abs
	return err
}

func setLogFormat(s *settings, v string) error {
	if v != "text" && v != "json" {
		return fmt.Errorf("%q is neither text nor json", v)
	}
	s.LogFormat = v
	return nil
}

func setListen(s *settings, v string) error {
	_, port, err := net.SplitHostPort(v)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%q is not an address like 127.0.0.1:2222", v)
	}
	s.Listen = v
	return nil
}

func setReplayLines(s *settings, v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return fmt.Errorf("%q is not a number of lines", v)
	}
	s.ReplayLines = n
	return nil
}

func setImportKeys(s *settings, v string) error {
	b, err := strconv.ParseBool(v)
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", v)
	}
	s.ImportKeys = b
	return nil
}

func duration(field func(*settings) *time.Duration) func(*settings, string) error {
	return func(s *settings, v string) error {
		d, err := hitchpost.ParseDuration(v)
		if err == nil && d <= 0 {
			err = fmt.Errorf("%q is not more than nothing", v)
		}
		*field(s) = d
		return err
	}
}

func setTaskSpace(s *settings, v string) error {
	n, err := parseBytes(v)
	s.TaskSpace = n
	return err
}

// parseBytes reads a number of bytes, such as 500MiB or 4GiB. It is more than nothing.
func parseBytes(text string) (int64, error) {
	number, unit := text, int64(1)
	for i, name := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if n, ok := strings.CutSuffix(text, name); ok {
			number, unit = n, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("%q is no amount of space like 500MiB or 4GiB", text)
	}
	return n * unit, nil
}

package task

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

// DefaultLogLimit is the size that a log may take on disk where a Spec does not say, in bytes.
const DefaultLogLimit = 64 << 20

// Spec is what a runner is asked to run. Words, directory and environment may hold any byte but NUL.
type Spec struct {
	ID       string        // of the task
	Argv     []string      // the command and its words; one without a slash is searched in the PATH of Env
	Dir      string        // absolute
	Env      []string      // the whole environment, K=V; the runner sets PWD
	Timeout  time.Duration // from the start on; 0: none
	LogLimit int64         // bytes of output that are kept: half of them from its start, half from its end; 0: DefaultLogLimit
	Stdin    bool          // standard input comes from Feed, once; else there is none
}

// specLimit is far above what execve(2) takes for words and environment together.
const specLimit = 16 << 20

// specFile is a Spec on disk.
type specFile struct {
	Version  int            `json:"version"`
	ID       string         `json:"id"`
	Argv     []durable.Text `json:"argv"`
	Dir      durable.Text   `json:"dir"`
	Env      []durable.Text `json:"env"`
	Timeout  time.Duration  `json:"timeout_ns"`
	LogLimit int64          `json:"log_limit_bytes"`
	Stdin    bool           `json:"stdin"`
}

// Create makes the folder of a task, with mode 0700, whole or not at all, and durable; its parent must exist. Nothing
// runs yet. It also holds the space of the Record, so that a full disk is told here and not at the end.
//
// Errors: UsageError for a Spec that nothing can run; one that wraps fs.ErrExist where there is a folder already.
func Create(folder string, s Spec) error {
	data, err := s.encode()
	if err != nil {
		return err
	}
	parent := filepath.Dir(folder)
	tmp, err := os.MkdirTemp(parent, "."+filepath.Base(folder)+".*") // mode 0700
	if err != nil {
		return fmt.Errorf("create task: %w", err)
	}
	err = furnish(tmp, data, s.Stdin)
	if err == nil {
		err = os.Rename(tmp, folder) // refuses a folder that is there
	}
	if err != nil {
		return fmt.Errorf("create task: %w", errors.Join(err, os.RemoveAll(tmp)))
	}
	if err := durable.SyncDir(parent); err != nil {
		return fmt.Errorf("create task: %w", err)
	}
	return nil
}

// furnish fills a new folder. The spec comes last and makes the rest durable with it.
func furnish(dir string, spec []byte, stdin bool) error {
	for _, name := range []string{lockName, logName} {
		if err := os.WriteFile(in(dir, name), nil, 0o600); err != nil {
			return err
		}
	}
	place, err := durable.Reserve(in(dir, placeName))
	if err != nil {
		return err
	}
	if err := place.Close(); err != nil {
		return err
	}
	if stdin {
		if err := unix.Mkfifo(in(dir, stdinName), 0o600); err != nil {
			return &os.PathError{Op: "mkfifo", Path: in(dir, stdinName), Err: err}
		}
	}
	return durable.Replace(in(dir, specName), spec)
}

func (s Spec) encode() ([]byte, error) {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return nil, hitchpost.Errorf(hitchpost.UsageError, "no command was given").For("command").
			Hinted("name a program and its words behind --")
	}
	if !filepath.IsAbs(s.Dir) {
		return nil, hitchpost.Errorf(hitchpost.UsageError, "%q is not an absolute directory", s.Dir).For("cwd")
	}
	for _, list := range [][]string{s.Argv, s.Env, {s.Dir}} {
		for _, word := range list {
			if strings.Contains(word, "\x00") {
				return nil, hitchpost.Errorf(hitchpost.UsageError, "a word for a program cannot hold a NUL byte").For("command")
			}
		}
	}
	if s.Timeout < 0 || s.LogLimit < 0 {
		return nil, hitchpost.Errorf(hitchpost.UsageError, "a limit of a task cannot be negative").For("timeout")
	}
	if s.LogLimit == 0 {
		s.LogLimit = DefaultLogLimit
	}
	data, err := json.Marshal(specFile{
		Version: 1, ID: s.ID, Argv: durable.Texts(s.Argv), Dir: durable.Text(s.Dir), Env: durable.Texts(s.Env),
		Timeout: s.Timeout, LogLimit: s.LogLimit, Stdin: s.Stdin,
	})
	if err != nil {
		return nil, fmt.Errorf("create task: %w", err)
	}
	if len(data) > specLimit {
		return nil, hitchpost.Errorf(hitchpost.UsageError, "%d bytes of words and environment are too many", len(data)).
			For("command")
	}
	return data, nil
}

func readSpec(folder string) (Spec, error) {
	path := in(folder, specName)
	data, err := durable.Read(path, specLimit)
	if err != nil {
		return Spec{}, err
	}
	var f specFile
	if err := json.Unmarshal(data, &f); err != nil {
		return Spec{}, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	if f.Version != 1 || len(f.Argv) == 0 || !filepath.IsAbs(string(f.Dir)) || f.LogLimit <= 0 {
		return Spec{}, fmt.Errorf("%s is not the description of a task: %w", path, ErrDamaged)
	}
	return Spec{
		ID: f.ID, Argv: durable.Words(f.Argv), Dir: string(f.Dir), Env: durable.Words(f.Env), Timeout: f.Timeout,
		LogLimit: f.LogLimit, Stdin: f.Stdin,
	}, nil
}

package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hitchpost/hitchpost/runtime/durable"
)

// Spec is what a wrapper is asked to run.
type Spec struct {
	Session string   // id of the session
	Run     int      // which run of the session: 0 for the first
	Argv    []string // the program and its words; a program without a slash is searched in the PATH of Env
	Argv0   string   // what the program sees as its name, such as "-bash" for a login shell; empty: Argv[0]
	Env     []string // the whole environment, K=V; the wrapper adds PWD and sets TERM to what the terminal is
	Dir     string   // absolute
	Record  string   // absolute path of the file that will hold the Record
}

// specLimit is far above what execve(2) takes for words and environment together.
const specLimit = 16 << 20

// specFile is a Spec on disk.
type specFile struct {
	Version int            `json:"version"`
	Session string         `json:"session"`
	Run     int            `json:"run"`
	Argv    []durable.Text `json:"argv"`
	Argv0   durable.Text   `json:"argv0"`
	Env     []durable.Text `json:"env"`
	Dir     durable.Text   `json:"dir"`
	Record  durable.Text   `json:"record"`
}

// WriteSpec puts s at path with mode 0600, atomically. It opens a new run: what an earlier run left at s.Record is
// removed first, so that it is never taken for the end of this one (a restored database may count runs anew).
func WriteSpec(path string, s Spec) error {
	data, err := json.Marshal(specFile{
		Version: 1, Session: s.Session, Run: s.Run, Argv: durable.Texts(s.Argv), Argv0: durable.Text(s.Argv0), Env: durable.Texts(s.Env),
		Dir: durable.Text(s.Dir), Record: durable.Text(s.Record),
	})
	if err != nil {
		return fmt.Errorf("write spec: %w", err)
	}
	if len(data) > specLimit {
		return fmt.Errorf("write spec: %d bytes of words and environment are too many", len(data))
	}
	for _, old := range []string{s.Record, openName(s.Record)} {
		if err := os.Remove(old); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("write spec: %w", err)
		}
	}
	if err := durable.Replace(path, data); err != nil {
		return fmt.Errorf("write spec: %w", err)
	}
	return nil
}

// openName is the file that holds a run's place on disk between its start and its end.
func openName(record string) string { return record + ".open" }

func readSpec(path string) (Spec, error) {
	data, err := durable.Read(path, specLimit)
	if err != nil {
		return Spec{}, err
	}
	var f specFile
	if err := json.Unmarshal(data, &f); err != nil {
		return Spec{}, fmt.Errorf("%s: %w", path, err)
	}
	s := Spec{
		Session: f.Session, Run: f.Run, Argv: durable.Words(f.Argv), Argv0: string(f.Argv0), Env: durable.Words(f.Env),
		Dir: string(f.Dir), Record: string(f.Record),
	}
	if f.Version != 1 || len(s.Argv) == 0 || !filepath.IsAbs(s.Dir) || !filepath.IsAbs(s.Record) {
		return Spec{}, fmt.Errorf("%s is not the description of a run", path)
	}
	return s, nil
}

package launch

import (
	"encoding/json"
	"fmt"
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

func (s Spec) encode() ([]byte, error) {
	data, err := json.Marshal(specFile{
		Version: 1, Session: s.Session, Run: s.Run, Argv: durable.Texts(s.Argv), Argv0: durable.Text(s.Argv0),
		Env: durable.Texts(s.Env), Dir: durable.Text(s.Dir), Record: durable.Text(s.Record),
	})
	if err == nil && len(data) > specLimit {
		err = fmt.Errorf("%d bytes of words and environment are too many", len(data))
	}
	return data, err
}

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

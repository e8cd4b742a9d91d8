package launch

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unicode/utf8"
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
	Version int    `json:"version"`
	Session string `json:"session"`
	Run     int    `json:"run"`
	Argv    []text `json:"argv"`
	Argv0   text   `json:"argv0"`
	Env     []text `json:"env"`
	Dir     text   `json:"dir"`
	Record  text   `json:"record"`
}

// text is a string of any bytes: words and paths are not always UTF-8, and JSON strings are.
type text string

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal(struct {
		Base64 []byte `json:"base64"`
	}{[]byte(t)})
}

func (t *text) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '{' {
		var v struct {
			Base64 []byte `json:"base64"`
		}
		err := json.Unmarshal(data, &v)
		*t = text(v.Base64)
		return err
	}
	return json.Unmarshal(data, (*string)(t))
}

// WriteSpec puts s at path with mode 0600, atomically. It opens a new run: what an earlier run left at s.Record is
// removed first, so that it is never taken for the end of this one (a restored database may count runs anew).
func WriteSpec(path string, s Spec) error {
	data, err := json.Marshal(specFile{
		Version: 1, Session: s.Session, Run: s.Run, Argv: texts(s.Argv), Argv0: text(s.Argv0), Env: texts(s.Env),
		Dir: text(s.Dir), Record: text(s.Record),
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
	if err := replace(path, data); err != nil {
		return fmt.Errorf("write spec: %w", err)
	}
	return nil
}

func readSpec(path string) (Spec, error) {
	data, err := bounded(path, specLimit)
	if err != nil {
		return Spec{}, err
	}
	var f specFile
	if err := json.Unmarshal(data, &f); err != nil {
		return Spec{}, fmt.Errorf("%s: %w", path, err)
	}
	s := Spec{
		Session: f.Session, Run: f.Run, Argv: words(f.Argv), Argv0: string(f.Argv0), Env: words(f.Env),
		Dir: string(f.Dir), Record: string(f.Record),
	}
	if f.Version != 1 || len(s.Argv) == 0 || !filepath.IsAbs(s.Dir) || !filepath.IsAbs(s.Record) {
		return Spec{}, fmt.Errorf("%s is not the description of a run", path)
	}
	return s, nil
}

func texts(words []string) []text {
	out := make([]text, len(words))
	for i, w := range words {
		out[i] = text(w)
	}
	return out
}

func words(texts []text) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = string(t)
	}
	return out
}

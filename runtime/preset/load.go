package preset

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hitchpost/hitchpost"
)

//go:embed presets
var builtIn embed.FS

const (
	// maxFile bounds each file of a preset.
	maxFile = 64 << 10
	// maxPresets bounds how many a person's folder may hold.
	maxPresets = 100
)

// Set holds presets by name. The zero value is empty.
type Set struct{ by map[string]loaded }

// loaded is a preset, or why its file is none.
type loaded struct {
	preset Preset
	err    error
}

// Load reads the built-in presets and those of dir, a person's own, which need not be there; empty: none. It fails where
// dir may not be read. A file that is no preset harms nobody but who asks for it: Find says what is wrong.
func Load(dir string) (Set, error) {
	s := Set{by: map[string]loaded{}}
	own, err := fs.Sub(builtIn, "presets")
	if err != nil {
		return s, err
	}
	if err := s.add(own, ""); err != nil {
		return s, err
	}
	if dir == "" {
		return s, nil
	}
	if err := s.add(os.DirFS(dir), dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, hitchpost.Errorf(hitchpost.FailedError, "the presets in %s cannot be read: %w", dir, err).
			For("preset").Hinted("mend the folder, or take it away")
	}
	return s, nil
}

func (s Set) add(folder fs.FS, dir string) error {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return path.Ext(e.Name()) != ".json" })
	if len(entries) > maxPresets {
		return fmt.Errorf("more than %d presets", maxPresets)
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".json")
		p, err := read(folder, name)
		if err != nil {
			err = hitchpost.Errorf(hitchpost.UsageError, "%s is no preset: %w", path.Join(dir, e.Name()), err).
				For("preset").Hinted("mend the file")
		}
		s.by[name] = loaded{p, err}
	}
	return nil
}

// Find returns the preset of a name. The error is a NotFoundError with the names that there are, or says what is wrong
// with the preset's file.
func (s Set) Find(name string) (Preset, error) {
	l, ok := s.by[name]
	if !ok {
		return Preset{}, hitchpost.Errorf(hitchpost.NotFoundError, "no preset %q", name).For("preset").
			Hinted("choose one of %s", strings.Join(s.Names(), ", "))
	}
	return l.preset, l.err
}

// Names are the names of all presets, sorted, of broken ones too.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s.by)) }

func read(folder fs.FS, name string) (Preset, error) {
	p := Preset{Name: name, files: map[string][]byte{}}
	raw, err := readFile(folder, name+".json")
	if err != nil {
		return p, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, inWords(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return p, errors.New("something stands behind its end")
	}
	if err := p.check(); err != nil {
		return p, err
	}
	for _, file := range p.Files {
		if p.files[file], err = readFile(folder, file); err != nil {
			return p, fmt.Errorf("files: %w", err)
		}
	}
	return p, nil
}

// inWords names the field that an error of encoding/json is about.
func inWords(err error) error {
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &wrong):
		return fmt.Errorf("%s: a %s where %s is wanted", wrong.Field, wrong.Value, wrong.Type)
	case errors.As(err, &syntax):
		return fmt.Errorf("byte %d: %w", syntax.Offset, err)
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func readFile(folder fs.FS, name string) ([]byte, error) {
	// Asked first: to open a named pipe would wait for who writes to it.
	info, err := fs.Stat(folder, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no file", name)
	}
	f, err := folder.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	return raw, nil
}

// check is nil for a preset that can be used. The error begins with the field.
func (p Preset) check() error {
	name, file := regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`), regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	switch {
	case !name.MatchString(p.Name):
		return errors.New("its name: small letters, digits and - are wanted, 32 at most")
	case p.Version != 1:
		return fmt.Errorf("version: %d is not known, only 1", p.Version)
	case p.Program == "" || strings.ContainsAny(p.Program, " \t\n$") || strings.HasPrefix(p.Program, "-"):
		return errors.New("program: one word is wanted, a name or an absolute path")
	case strings.Contains(p.Program, "/") && !path.IsAbs(p.Program):
		return errors.New("program: a path that is not absolute")
	}
	for field, words := range map[string][]string{
		"start": p.First, "restart": p.Again, "restart_conversation": p.Same, "keep_flags": p.Flags,
		"keep_switches": p.Switches,
	} {
		if err := checkFilled(field, words...); err != nil {
			return err
		}
		if slices.ContainsFunc(words, func(w string) bool { return strings.ContainsRune(w, 0) }) {
			return fmt.Errorf("%s: a word with a NUL", field)
		}
	}
	for _, f := range p.Files {
		if !file.MatchString(f) {
			return fmt.Errorf("files: %q is no name of a file beside the preset", f)
		}
	}
	return errors.Join(p.checkEnvironment(), p.Hook.check())
}

func (p Preset) checkEnvironment() error {
	variable := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		switch {
		case !variable.MatchString(name) || strings.ContainsRune(p.Env[name], 0):
			return fmt.Errorf("environment: %q cannot stand there", name)
		case strings.HasPrefix(name, "HITCHPOST_") && name != HookVariable:
			return fmt.Errorf("environment: %s is not a preset's to set", name)
		}
		if err := checkFilled("environment", p.Env[name]); err != nil {
			return err
		}
	}
	return nil
}

// HookVariable may be set by a preset whose own file, such as a plugin, calls the hook: with ${hook.json} it is told how.
const HookVariable = "HITCHPOST_HOOK"

func (h *Hook) check() error {
	if h == nil {
		return nil
	}
	switch {
	case !slices.Contains([]string{"stdin", "argument", "none"}, h.Input):
		return fmt.Errorf("hook.input: %q is none of stdin, argument and none", h.Input)
	case (h.Input == "none") != (h.Event == ""):
		return errors.New("hook.event: wanted where there is input, and only there")
	case len(h.Events) == 0:
		return errors.New("hook.events: none")
	}
	for _, name := range slices.Sorted(maps.Keys(h.Events)) {
		m := h.Events[name].Means
		switch {
		case !slices.Contains([]Means{Waits, Works, Finished, Attention}, m):
			return fmt.Errorf("hook.events.%s.means: %q is none of waits, works, finished and attention", name, m)
		case (m == Waits || m == Finished) && !h.has(Works):
			return fmt.Errorf("hook.events.%s.means: %q needs an event that means works: else it is attention", name, m)
		case (name == "") != (h.Input == "none"):
			return fmt.Errorf("hook.events: an event called %q with input %s", name, h.Input)
		}
	}
	return nil
}

package runtime

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/kballard/go-shellquote"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
	"github.com/hitchpost/hitchpost/runtime/preset"
)

// presetVariable holds the name of the preset that a session was started with, in its environment.
const presetVariable = "HITCHPOST_PRESET"

// presets is a person's own presets, which add to the built-in ones or stand in their place.
func (f folder) presets() string { return filepath.Join(f.root, "presets") }

// preset holds what a session's preset puts there, and what its agent keeps there.
func (f folder) preset(id string) string { return filepath.Join(f.session(id), "preset") }

// findPreset reads the preset anew each time: a person may add or mend one while the service runs.
func (s *Service) findPreset(ctx context.Context, name string) (preset.Preset, error) {
	return ask(ctx, s.disk, func() (preset.Preset, error) {
		set, err := preset.Load(s.folder.presets())
		if err != nil {
			return preset.Preset{}, err
		}
		return set.Find(name)
	})
}

// fromPreset makes session what its preset says, where it has one, and returns the environment and the files that its
// program needs; without a preset that is r.Env and nil. What the person asked for goes before the preset: a variable of
// theirs, a restart command.
func (s *Service) fromPreset(
	ctx context.Context, session *hitchpost.Session, r hitchpost.StartRequest,
) (env []string, files map[string][]byte, err error) {
	if r.Preset == "" {
		return r.Env, nil, nil
	}
	p, err := s.findPreset(ctx, r.Preset)
	if err != nil {
		return nil, nil, err
	}
	v := s.presetValues(*session)
	session.Args = p.Start(v, r.Args)
	if session.RestartCommand == "" {
		session.RestartCommand = shellquote.Join(p.Restart(v, r.Args)...)
	}
	files = map[string][]byte{}
	for _, name := range p.Files {
		files[name] = p.File(name)
	}
	env = append(p.Environment(v), presetVariable+"="+p.Name)
	return append(env, r.Env...), files, nil
}

// titleWords is what a session without a title is named after.
func titleWords(r hitchpost.StartRequest) []string {
	if r.Preset != "" {
		return []string{r.Preset}
	}
	return r.Args
}

func (s *Service) presetValues(session hitchpost.Session) preset.Values {
	return preset.Values{
		Hook: []string{s.Wrapper[0], HookVerb}, Session: session.ID, Folder: s.folder.preset(session.ID),
		Conversation: session.ConversationID,
	}
}

// ownConversation is what a Restart runs of a session with a preset whose hook told which conversation is its own; nil
// where that is not known, or where the person gave another restart command. An agent that would open the newest
// conversation of its directory is refused where that may be another session's.
func (s *Service) ownConversation(ctx context.Context, session hitchpost.Session, extra []string) ([]string, error) {
	name := lookup(extra, presetVariable)
	if name == "" {
		return nil, nil
	}
	p, err := s.findPreset(ctx, name)
	switch {
	case err != nil:
		return nil, nil // it was taken away; what was written down at the start still goes
	case session.ConversationID != "":
		return resumed(p, s.presetValues(session), session), nil
	}
	if _, ok := restartsBy(p, s.presetValues(session), session); ok && p.Guesses {
		return nil, s.noGuess(ctx, session, p)
	}
	return nil, nil
}

// noGuess is nil where no other session ever worked in the directory of one whose conversation nobody knows.
func (s *Service) noGuess(ctx context.Context, session hitchpost.Session, p preset.Preset) error {
	all, err := s.Store.Sessions(ctx, hitchpost.ListRequest{Node: session.Node, All: true})
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(o hitchpost.Session) bool { return o.ID != session.ID && o.Cwd == session.Cwd })
	if i < 0 {
		return nil
	}
	return hitchpost.Errorf(hitchpost.ConflictError,
		"nobody knows which conversation %s was in, and %s worked in %s too: %s would open the newest there", session.Handle,
		all[i].Handle, session.Cwd, p.Name).Hinted("start a new session there, and choose the conversation in it")
}

// resumed is what a Restart runs that names the conversation of v; nil where the person gave another restart command.
func resumed(p preset.Preset, v preset.Values, session hitchpost.Session) []string {
	words, ok := restartsBy(p, v, session)
	if !ok {
		return nil
	}
	return p.Restart(v, words)
}

// restartsBy reports whether a session restarts as its preset says, and gives the words that the person added to it.
func restartsBy(p preset.Preset, v preset.Values, session hitchpost.Session) (words []string, ok bool) {
	v.Conversation = "" // it was not known at the start
	own := p.Start(v, nil)
	if len(session.Args) < len(own) || !slices.Equal(session.Args[:len(own)], own) {
		return nil, false
	}
	words = session.Args[len(own):]
	return words, session.RestartCommand == shellquote.Join(p.Restart(v, words)...)
}

// writePreset makes the folder of a session's preset and writes the preset's files there.
func (s *Service) writePreset(id string, files map[string][]byte) error {
	if files == nil {
		return nil
	}
	errs := []error{os.MkdirAll(s.folder.preset(id), 0o700)}
	for name, content := range files {
		errs = append(errs, durable.Replace(filepath.Join(s.folder.preset(id), name), content))
	}
	return errors.Join(errs...)
}

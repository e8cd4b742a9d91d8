package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hitchpost/hitchpost"
)

// Tree is a working tree that git would work in. Its paths are real ones, without symlinks, and like all names of
// others not fit to be shown as they are. It is safe for concurrent use and holds nothing open.
//
// What the repository's configuration would have git run is switched off by name as it was when the tree was opened, so
// a Tree is for the work at hand and not for keeping.
type Tree struct {
	Top       string   // directory that holds the files; a linked worktree is a tree of its own
	GitDir    string   // what is this tree's alone: HEAD, index, an unfinished merge
	CommonDir string   // what it shares with other worktrees: branches and objects; else as GitDir
	Filters   []string // names of the configured filters (gitattributes(5)), none of which is ever run; sorted

	off    []string
	format string // of object names: sha1 or sha256
}

// Linked reports whether it is a worktree beside the repository's own.
func (t *Tree) Linked() bool { return t.GitDir != t.CommonDir }

// Open finds the working tree that holds dir and asks git whether it would work there. The error is a *hitchpost.Error.
// It takes 2 s at most, unless a file system hangs.
func Open(ctx context.Context, dir string) (*Tree, error) {
	t, err := open(ctx, dir)
	if err != nil {
		return nil, worded(dir, err)
	}
	return t, nil
}

// worded makes what kept a tree from being opened an error for a person.
func worded(dir string, err error) error {
	u := unknown(err)
	switch u.Reason {
	case NoDirectory:
		return hitchpost.Errorf(hitchpost.NotFoundError, "directory %q is gone: %w", dir, err)
	case NoRepository:
		return hitchpost.Errorf(hitchpost.ConflictError, "%q is in no git repository: %w", dir, err).
			Hinted("run git init there, or name another directory")
	case Bare:
		return hitchpost.Errorf(hitchpost.ConflictError, "%q is a bare repository: %w", dir, err).
			Hinted("name a directory with a working tree")
	case Dubious:
		return hitchpost.Errorf(hitchpost.ConflictError, "the repository of %q belongs to another account: %w", dir, err).
			Hinted("add it with git config --global --add safe.directory if you trust it")
	case NoGit:
		return hitchpost.Errorf(hitchpost.UnavailableError, "there is no git on this machine: %w", err).Hinted("install git")
	case Deadline:
		return hitchpost.Errorf(hitchpost.UnavailableError, "git took too long in %q: %w", dir, err).Hinted("try again")
	case NoAccess:
		return hitchpost.Errorf(hitchpost.ConflictError, "the repository of %q may not be read: %w", dir, err).
			Hinted("mend its permissions")
	default:
		return hitchpost.Errorf(hitchpost.FailedError, "the repository of %q cannot be read: %w", dir, err).
			Hinted("look with git fsck")
	}
}

func open(ctx context.Context, dir string) (*Tree, error) {
	t, err := locate(ctx, dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	var (
		wait         sync.WaitGroup
		format, same string
		names        []string
		badly, worse error
	)
	wait.Go(func() { format, same, badly = t.confirm(ctx) })
	wait.Go(func() { names, worse = t.programs(ctx) })
	wait.Wait()
	if badly != nil {
		return nil, badly // git-config(1) says nothing of a repository that it does not trust
	}
	if worse != nil {
		return nil, worse
	}
	if format != "sha1" && format != "sha256" || same != t.GitDir {
		return nil, &reasoned{Broken, fmt.Sprintf("git takes %q for the repository, not %q", same, t.GitDir)}
	}
	t.format = format
	return t, t.switchOff(names)
}

// confirm has git say which repository it would take.
func (t *Tree) confirm(ctx context.Context) (format, gitDir string, err error) {
	out, err := t.run(ctx, call{keep: 2 * fileLimit}, "rev-parse", "--show-object-format", "--absolute-git-dir")
	if err != nil {
		return "", "", err
	}
	format, gitDir, _ = strings.Cut(strings.TrimSuffix(out.text, "\n"), "\n")
	if real, err := filepath.EvalSymlinks(gitDir); err == nil {
		gitDir = real
	}
	return format, gitDir, nil
}

// programs lists the settings that name a program for contents or for an event. Other settings that name programs are
// switched off for every call, or not looked at by the verbs that are called.
func (t *Tree) programs(ctx context.Context) ([]string, error) {
	out, err := t.run(ctx, call{keep: 4 * fileLimit}, "config", "-z", "--name-only", "--get-regexp", `^(filter|hook)\.`)
	switch {
	case exited(err, 1): // there is none
		return nil, nil
	case err != nil:
		return nil, err
	case out.cut:
		return nil, &reasoned{TooMuch, "more filters and hooks are configured than can be switched off"}
	}
	return out.parts(), nil
}

// switchOff makes every later call run none of the programs that the settings name. An empty program is none, and a
// filter that is required would make git give up.
func (t *Tree) switchOff(names []string) error {
	hooks := map[string]bool{}
	for _, name := range names {
		section, rest, _ := strings.Cut(name, ".")
		dot := strings.LastIndexByte(rest, '.')
		if dot < 0 {
			continue
		}
		of := rest[:dot]
		switch {
		case strings.ContainsAny(of, "=\n"): // cannot be named on the command line
			return &reasoned{Failed, fmt.Sprintf("%s %q cannot be switched off", section, of)}
		case section == "hook" && !hooks[of]: // git 2.54
			hooks[of] = true
			t.off = append(t.off, "hook."+of+".enabled=false")
		case section == "filter" && !slices.Contains(t.Filters, of):
			t.Filters = append(t.Filters, of)
			for _, empty := range []string{"clean", "smudge", "process"} {
				t.off = append(t.off, "filter."+of+"."+empty+"=")
			}
			t.off = append(t.off, "filter."+of+".required=false")
		}
	}
	slices.Sort(t.Filters)
	return nil
}

// run is a call of git in the tree. What core.worktree says is not heeded: the files are those beside .git and no
// others, wherever a repository would like to have them looked for.
func (t *Tree) run(ctx context.Context, c call, args ...string) (output, error) {
	c.in, c.off = t.Top, slices.Concat(t.off, c.off)
	c.env = append([]string{"GIT_WORK_TREE=" + t.Top}, c.env...)
	return do(ctx, c, args...)
}

// text is the output of a call of git without the line's end.
func (t *Tree) text(ctx context.Context, args ...string) (string, error) {
	out, err := t.run(ctx, call{keep: fileLimit}, args...)
	return strings.TrimSuffix(out.text, "\n"), err
}

// emptyTree is the name of the tree without a file, which git knows without having it.
func (t *Tree) emptyTree() string {
	if t.format == "sha256" {
		return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// worded makes what kept something from being done an error for a person.
func (t *Tree) worded(doing string, err error) error {
	var e *hitchpost.Error
	if errors.As(err, &e) {
		return err
	}
	switch unknown(err).Reason {
	case NotThere:
		return hitchpost.Errorf(hitchpost.NotFoundError, "cannot %s: %w", doing, err).Hinted("list what there is")
	case Deadline:
		return hitchpost.Errorf(hitchpost.UnavailableError, "cannot %s: git took too long: %w", doing, err).Hinted("try again")
	default:
		return hitchpost.Errorf(hitchpost.FailedError, "cannot %s: %w", doing, err).Hinted("see what git says in %q", t.Top)
	}
}

// locate goes upwards from dir as git does, by files alone.
func locate(ctx context.Context, dir string) (*Tree, error) {
	top, err := filepath.Abs(dir)
	if err == nil {
		top, err = filepath.EvalSymlinks(top) // git goes by where a directory really is
	}
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(top); err != nil || !info.IsDir() {
		return nil, errors.Join(err, &reasoned{NoDirectory, ""})
	}
	nothing := &reasoned{NoRepository, ""}
	for ; ; top = filepath.Dir(top) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		gitDir, err := repositoryOf(top)
		if err != nil {
			return nil, err
		}
		if gitDir != "" {
			if common, ok := layout(gitDir); ok {
				return &Tree{Top: top, GitDir: gitDir, CommonDir: common}, nil
			}
			nothing = &reasoned{Broken, gitDir + " is no repository"}
		}
		if _, ok := layout(top); ok && filepath.Base(top) != ".git" {
			return nil, &reasoned{Bare, top}
		}
		if top == filepath.Dir(top) {
			return nil, nothing
		}
	}
}

// repositoryOf is the real path of what .git in top is or leads to, whether or not that is a repository; empty where
// there is no .git.
func repositoryOf(top string) (string, error) {
	gitDir, err := gitDirOf(top)
	switch {
	case errors.Is(err, errIrregular):
		return "", &reasoned{Broken, err.Error()}
	case err != nil:
		return "", err
	case gitDir == "":
		if _, err := os.Lstat(filepath.Join(top, ".git")); err == nil {
			return filepath.Join(top, ".git"), nil
		}
		return "", nil
	}
	if real, err := filepath.EvalSymlinks(gitDir); err == nil {
		return real, nil
	}
	return gitDir, nil
}

// layout reports whether gitDir is laid out as a repository (gitrepository-layout(5)), and where what worktrees share
// is.
func layout(gitDir string) (common string, ok bool) {
	common = gitDir
	if text, err := regular(filepath.Join(gitDir, "commondir")); err == nil {
		common = strings.TrimRight(text, "\r\n")
		if !filepath.IsAbs(common) {
			common = filepath.Join(gitDir, common)
		}
		if real, err := filepath.EvalSymlinks(common); err == nil {
			common = real
		}
	}
	path := filepath.Join(gitDir, "HEAD")
	text, err := regular(path)
	if target, linkErr := os.Readlink(path); linkErr == nil && strings.HasPrefix(target, "refs/") {
		text, err = "ref: "+target, nil
	}
	if _, valid := head(text); err != nil || !valid {
		return "", false
	}
	for _, part := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(common, part)); err != nil || !info.IsDir() {
			return "", false
		}
	}
	return common, true
}

package git

import (
	"context"
	"strconv"
	"strings"
	"time"
)

// commitsCounted is how many commits are counted before it is just "at least".
const commitsCounted = 1000

// log lists commits, newest first: the first keep of them, and how many there are up to limit. It looks at no
// signature, whatever is configured: that would run a program.
func (t *Tree) log(ctx context.Context, keep, limit int, revisions ...string) (Commits, error) {
	args := []string{"log", "-z", "--no-show-signature", "--no-color", "--no-decorate", "--no-notes", "--no-mailmap",
		"--encoding=UTF-8", "--no-patch", "--format=%H %ct %s", "--max-count=" + strconv.Itoa(limit+1)}
	out, err := t.run(ctx, call{}, append(append(args, revisions...), "--")...)
	if err != nil {
		return Commits{}, err
	}
	list := Commits{AtLeast: out.cut}
	for _, part := range out.parts() {
		if list.Count == limit {
			list.AtLeast = true
			break
		}
		list.Count++
		if len(list.First) < keep {
			list.First = append(list.First, readCommit(part))
		}
	}
	return list, nil
}

func readCommit(part string) Commit {
	hash, rest, _ := strings.Cut(part, " ")
	seconds, subject, _ := strings.Cut(rest, " ")
	at, _ := strconv.ParseInt(seconds, 10, 64)
	return Commit{strings.Clone(hash), strings.Clone(subject[:min(len(subject), subjectLimit)]), time.Unix(at, 0).UTC()}
}

// since are the commits that were made since the work began.
func (t *Tree) since(ctx context.Context, head string, known Unknown, q Question) Commits {
	switch {
	case q.Began == "" && q.Since.IsZero():
		return Commits{Unknown: Unknown{Reason: NotAsked}}
	case !known.Known():
		return Commits{Unknown: known}
	case head == "":
		return Commits{}
	}
	which := []string{head}
	if q.Began != "" {
		began, err := t.object(ctx, q.Began, "commit")
		if err != nil {
			return Commits{Unknown: unknown(err)}
		}
		which = append(which, "^"+began)
	} else {
		which = append(which, "--since=@"+strconv.FormatInt(q.Since.Unix(), 10))
	}
	list, err := t.log(ctx, q.Names, commitsCounted, which...)
	list.Unknown = unknown(err)
	return list
}

// unpushed are the commits of HEAD that no remote-tracking branch has.
func (t *Tree) unpushed(ctx context.Context, head string, known Unknown, keep int) (list Commits, noRemote bool) {
	if !known.Known() {
		return Commits{Unknown: known}, false
	}
	some, err := t.text(ctx, "for-each-ref", "--count=1", "--format=%(objectname)", "refs/remotes/")
	if err == nil && head != "" {
		list, err = t.log(ctx, keep, commitsCounted, head, "--not", "--remotes")
	}
	list.Unknown = unknown(err)
	return list, err == nil && some == ""
}

// object is the full name of the object of a kind that name stands for. A name is not looked up among branches or in
// any other way that a repository could make mean something else.
func (t *Tree) object(ctx context.Context, name, kind string) (string, error) {
	if len(name) != 40 && len(name) != 64 || strings.Trim(name, "0123456789abcdef") != "" {
		return "", &reasoned{NotThere, name}
	}
	hash, err := t.text(ctx, "rev-parse", "--verify", "--quiet", name+"^{"+kind+"}")
	if exited(err, 1) || exited(err, 128) {
		return "", &reasoned{NotThere, name}
	}
	return hash, err
}

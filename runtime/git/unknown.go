package git

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
)

// Reason is why something of a working tree is not known. The texts are fixed; a front end may show or compare them.
type Reason string

// The reasons.
const (
	Known        Reason = ""                  // it is known
	NotAsked     Reason = "not asked for"     //
	NoRepository Reason = "no repository"     // the directory is in none
	NoDirectory  Reason = "no such directory" // it was deleted, or is no directory
	NoAccess     Reason = "permission denied" // this account may not look
	Bare         Reason = "bare repository"   // one without a working tree
	Broken       Reason = "broken repository" // git does not take it for one, or cannot read it
	Dubious      Reason = "dubious ownership" // another account's, and not in safe.directory (git-config(1))
	NoGit        Reason = "git is missing"    // no program git in PATH
	Deadline     Reason = "took too long"     // cut off by the limit of time
	TooMuch      Reason = "too much"          // cut off by the limit of bytes
	NoCommit     Reason = "no commit yet"     // the branch is still without one
	NoUpstream   Reason = "no upstream"       // the branch follows none, or HEAD is on no branch
	NotThere     Reason = "no such commit"    // what was asked to compare with is not in the repository
	Failed       Reason = "git failed"        // for another reason, in Detail
)

// Unknown tells whether a part is known. The zero value says that it is.
type Unknown struct {
	Reason Reason
	// Detail is what git or the system said, for a log or the curious: of others' making, up to 500 bytes, unescaped.
	Detail string
}

// Known reports whether the part is known.
func (u Unknown) Known() bool { return u.Reason == Known }

// detailLimit bounds what is kept of git's own words, in bytes.
const detailLimit = 500

// unknown is what err means for the part that it came from.
func unknown(err error) Unknown {
	if err == nil {
		return Unknown{}
	}
	detail := err.Error()
	var c *callError
	if errors.As(err, &c) && c.said != "" {
		detail = c.said
	}
	return Unknown{reasonOf(err, c), detail[:min(len(detail), detailLimit)]}
}

func reasonOf(err error, c *callError) Reason {
	var r *reasoned
	switch {
	case errors.As(err, &r):
		return r.reason
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, exec.ErrWaitDelay):
		return Deadline
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot):
		return NoGit
	case errors.Is(err, fs.ErrPermission):
		return NoAccess
	case errors.Is(err, fs.ErrNotExist):
		return NoDirectory
	case c != nil && strings.Contains(c.said, "dubious ownership"):
		return Dubious
	case c != nil && brokenWords(c.said):
		return Broken
	default:
		return Failed
	}
}

// brokenWords reports whether git says that it cannot make sense of the repository. The words are those of the C
// locale, in which it is run.
func brokenWords(said string) bool {
	for _, words := range []string{"not a git repository", "bad config", "bad object", "unable to read", "loose object",
		"index file", "bad signature", "repo version", "repository extension", "invalid gitfile", "missing blob",
		"bad tree", "bad revision 'HEAD'", "object file", "packfile", "could not parse"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// reasoned is an error whose reason is known where it arises.
type reasoned struct {
	reason Reason
	detail string
}

func (r *reasoned) Error() string {
	if r.detail == "" {
		return string(r.reason)
	}
	return string(r.reason) + ": " + r.detail
}

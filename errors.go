package hitchpost

import (
	"errors"
	"fmt"
)

// ErrorKind is one of the few ways in which a request ends badly. Its text is the `code` of a JSON error and decides
// the exit status; see ExitStatus.
type ErrorKind string

// The kinds of error. A kind is a promise to scripts: it may gain members, none changes its meaning.
const (
	FailedError      ErrorKind = "failed"
	UsageError       ErrorKind = "usage"
	NotFoundError    ErrorKind = "not_found"
	ConflictError    ErrorKind = "conflict"
	DeniedError      ErrorKind = "denied"
	UnconfirmedError ErrorKind = "unconfirmed"
	UnavailableError ErrorKind = "unavailable"
	RevokedError     ErrorKind = "revoked"
	TimeoutError     ErrorKind = "timeout"
)

// ExitStatus is the process exit status that stands for the kind.
func (k ErrorKind) ExitStatus() int {
	switch k {
	case UsageError:
		return 2
	case NotFoundError:
		return 3
	case ConflictError:
		return 4
	case DeniedError:
		return 5
	case UnconfirmedError:
		return 6
	case UnavailableError:
		return 75
	case RevokedError:
		return 77
	case TimeoutError:
		return 124
	default:
		return 1
	}
}

// Error is an error that a person or a script is meant to read: what happened, and what to do next. Both are lower
// case and without a final stop. It may wrap the cause, which is for the log and not shown.
type Error struct {
	Kind    ErrorKind
	Message string
	Hint    string
	// Field names what of a request the error is about, so that a front end can add how its people give it: cwd, kind,
	// command, title, session, conversation, node, key, signal, timeout, worktree, branch, checkpoint, message; force where
	// the same request would be carried out with Force. Empty where it is about nothing of these.
	Field string
	// InTheWay is what would be lost by what was asked for, kind by kind; the message names it too.
	InTheWay []Obstacle
	Cause    error
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + ": " + e.Hint
}

func (e *Error) Unwrap() error { return e.Cause }

// Is makes errors.Is(err, &Error{Kind: k}) true for every error of kind k.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Message == "" && t.Kind == e.Kind
}

// Errorf makes an error of kind k without a hint. A %w verb sets the cause.
func Errorf(k ErrorKind, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Kind: k, Message: err.Error(), Cause: errors.Unwrap(err)}
}

// Hinted returns a copy of e that tells what to do next.
func (e *Error) Hinted(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// For returns a copy of e that names what of a request it is about.
func (e *Error) For(field string) *Error {
	c := *e
	c.Field = field
	return &c
}

// Forcible reports whether err is of a request that would have been carried out with its Force set.
func Forcible(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Field == "force"
}

// KindOf is the kind of the first *Error in err's chain; FailedError when there is none, and empty for nil.
func KindOf(err error) ErrorKind {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return FailedError
}

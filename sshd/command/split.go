package command

import (
	shellquote "github.com/kballard/go-shellquote"

	"github.com/hitchpost/hitchpost"
)

// Split splits a command line into words like a POSIX shell: quotes and backslashes, and no expansion of any kind. The
// error is a UsageError, for a quote that is not closed or a backslash at the end; then nothing may be executed.
func Split(line string) ([]string, error) {
	words, err := shellquote.Split(line)
	if err != nil {
		e := hitchpost.Errorf(hitchpost.UsageError, "the command line has an open quote or ends in a backslash").
			Hinted("quote it once for your own shell and once for this one")
		e.Cause = err
		return nil, e
	}
	return words, nil
}

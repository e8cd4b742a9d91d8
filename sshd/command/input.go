package command

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hitchpost/hitchpost"
)

// keyLimit bounds the key that is read from stdin, in bytes.
const keyLimit = 64 << 10

// orInput is text as it was given, or what stdin holds where that is -.
func (c *call) orInput(text, what string, limit int64) (string, error) {
	if text != "-" {
		return text, nil
	}
	return c.input(what, limit)
}

// input reads all of stdin, which may be limit bytes of UTF-8 text.
func (c *call) input(what string, limit int64) (string, error) {
	data, err := io.ReadAll(io.LimitReader(c.Stdin, limit+1))
	switch {
	case err != nil:
		return "", hitchpost.Errorf(hitchpost.FailedError, "the %s could not be read from stdin: %w", what, err)
	case int64(len(data)) > limit:
		return "", usage("the %s on stdin is longer than %d bytes", what, limit).Hinted("send less")
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		return "", usage("the %s on stdin is not UTF-8 text", what).Hinted("send text")
	}
	return string(data), nil
}

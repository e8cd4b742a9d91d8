package git

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode"
)

// fileLimit bounds what is read of HEAD and of a gitfile, in bytes: a path and a few words.
const fileLimit = 8 << 10

var (
	errIrregular    = errors.New("not a regular file of moderate size")
	errNotDirectory = syscall.ENOTDIR
)

// regular reads a small regular file. A pipe or device of that name neither blocks it nor feeds it for ever.
func regular(path string) (text string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: %w", path, errIrregular)
	}
	data, err := io.ReadAll(io.LimitReader(f, fileLimit+1))
	if err != nil {
		return "", err
	}
	if len(data) > fileLimit {
		return "", fmt.Errorf("%s: %w", path, errIrregular)
	}
	return string(data), nil
}

// gitFile is the path in a gitfile.
func gitFile(text string) (path string, ok bool) {
	path, ok = strings.CutPrefix(text, "gitdir: ")
	path = strings.TrimRight(path, "\r\n")
	return path, ok && path != "" && !strings.Contains(path, "\x00")
}

// elsewhere is the branch that HEAD names in a repository whose references are not files (reftable).
const elsewhere = ".invalid"

// commitLength is how much of a commit's name is shown.
const commitLength = 7

// head reads the contents of HEAD: a branch, or the start of a commit's name.
func head(text string) (name string, ok bool) {
	text = strings.TrimRight(text, " \t\r\n")
	if ref, ok := strings.CutPrefix(text, "ref:"); ok {
		return branchOf(strings.TrimLeft(ref, " \t"))
	}
	hash, _, _ := strings.Cut(text, " ")
	if len(hash) != 40 && len(hash) != 64 || strings.Trim(hash, "0123456789abcdefABCDEF") != "" {
		return "", false
	}
	return hash[:commitLength], true
}

// branchOf is the name that people know a reference by.
func branchOf(ref string) (string, bool) {
	rest, ok := strings.CutPrefix(ref, "refs/")
	rest = strings.TrimPrefix(rest, "heads/")
	return rest, ok && rest != ""
}

// nameLimit bounds a name, in characters.
const nameLimit = 200

// clean makes a name fit to be kept as text and shown on a terminal: git allows no control characters in a branch, but
// a file can hold anything.
func clean(name string) string {
	count := 0
	return strings.Map(func(r rune) rune {
		if count++; count > nameLimit {
			return -1
		}
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name)
}

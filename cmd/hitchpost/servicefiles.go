package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

// noSeal stands in the text of a service's file where its checksum belongs. By it install and uninstall know a file
// that is theirs from one that somebody has changed.
const noSeal = "checksum 0000000000000000"

var sealed = regexp.MustCompile(`checksum [0-9a-f]{16}`)

// seal puts the checksum in its place.
func seal(text string) string {
	sum := sha256.Sum256([]byte(text))
	return strings.Replace(text, noSeal, "checksum "+hex.EncodeToString(sum[:8]), 1)
}

// untouched reports whether text is as install wrote it, by this version or another.
func untouched(text string) bool {
	found := sealed.FindString(text)
	return found != "" && seal(strings.Replace(text, found, noSeal, 1)) == text
}

// ownServiceFiles are those of paths that are there. It is an error when one is not as install wrote it.
func ownServiceFiles(paths []string) ([]string, error) {
	var own []string
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		switch {
		case errors.Is(err, os.ErrNotExist):
			continue
		case err != nil:
			return nil, hitchpost.Errorf(hitchpost.FailedError, "look at the service: %w", err)
		case !untouched(string(raw)):
			return nil, hitchpost.Errorf(hitchpost.ConflictError, "%s is not as hitchpost wrote it", path).
				Hinted("move it away; changes belong into a drop-in, see systemctl edit")
		}
		own = append(own, path)
	}
	return own, nil
}

// writeServiceFiles writes each file whole or not at all, and none where one of the old ones was changed by hand.
func writeServiceFiles(files []serviceFile) error {
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	if _, err := ownServiceFiles(paths); err != nil {
		return err
	}
	for _, f := range files {
		if err := writeServiceFile(f); err != nil {
			return hitchpost.Errorf(hitchpost.FailedError, "write the service: %w", err)
		}
	}
	return nil
}

func writeServiceFile(f serviceFile) error {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	if err := durable.Replace(f.Path, []byte(f.Text)); err != nil {
		return err
	}
	// Whoever asks the service manager reads it; there is nothing secret in it.
	return os.Chmod(f.Path, 0o644)
}

package claude

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf16"

	"golang.org/x/text/unicode/norm"

	"github.com/hitchpost/hitchpost"
)

// ConfigDir is the directory in which a Claude Code with the environment env (K=V) and the working directory dir keeps
// settings, transcripts and its register: CLAUDE_CONFIG_DIR, else .claude in HOME. It is absolute, symlinks are resolved
// as far as it exists, and nothing is made.
//
// Errors: UsageError where the environment names no directory.
func ConfigDir(env []string, dir string) (string, error) {
	config := valueOf(env, "CLAUDE_CONFIG_DIR")
	if config == "" {
		home := valueOf(env, "HOME")
		if home == "" {
			return "", hitchpost.Errorf(hitchpost.UsageError, "the session has no HOME, and so no place for Claude Code's files").
				Hinted("give it HOME or CLAUDE_CONFIG_DIR")
		}
		config = filepath.Join(home, ".claude")
	}
	config = norm.NFC.String(config)
	if !filepath.IsAbs(config) {
		config = filepath.Join(dir, config)
	}
	return RealDir(config), nil
}

// RealDir is a directory with its symlinks resolved, as Claude Code knows it. What does not exist, or cannot be looked at,
// stays as it is, but its parents are resolved.
func RealDir(dir string) string {
	dir = filepath.Clean(dir)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return norm.NFC.String(real)
	}
	parent := filepath.Dir(dir)
	if parent == dir {
		return dir
	}
	return filepath.Join(RealDir(parent), norm.NFC.String(filepath.Base(dir)))
}

// folderUnits is how many UTF-16 units of a directory's name Claude Code takes into the name of its transcripts' folder.
const folderUnits = 200

// TranscriptFolder is the name of the folder, under projects in the configuration directory, in which Claude Code keeps
// the transcripts of conversations in a directory; realDir is that of RealDir. Different directories may share one.
func TranscriptFolder(realDir string) string {
	units := utf16.Encode([]rune(realDir))
	name := make([]byte, len(units))
	var hash int32
	for i, u := range units {
		hash = hash<<5 - hash + int32(u)
		name[i] = '-'
		if u < 0x80 && strings.ContainsRune(alphanumeric, rune(u)) {
			name[i] = byte(u)
		}
	}
	if len(name) <= folderUnits {
		return string(name)
	}
	sum := int64(hash)
	if sum < 0 {
		sum = -sum
	}
	return string(name[:folderUnits]) + "-" + strconv.FormatInt(sum, 36)
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// DefaultCleanupDays is for how many days Claude Code keeps a transcript that nobody touches, where it is not told.
const DefaultCleanupDays = 30

// CleanupDays is for how many days Claude Code keeps the transcripts of a configuration directory, by the settings of
// the person there. What cannot be read, or makes no sense, counts as not set.
func CleanupDays(configDir string) int {
	data, err := readSettings(filepath.Join(configDir, "settings.json"))
	if err != nil {
		return DefaultCleanupDays
	}
	all, err := object(bytes.TrimPrefix(data, byteOrderMark), "the settings")
	if err != nil {
		return DefaultCleanupDays
	}
	var days float64
	raw, ok := all["cleanupPeriodDays"]
	if !ok || string(raw) == "null" || json.Unmarshal(raw, &days) != nil || days < 0 {
		return DefaultCleanupDays
	}
	return int(min(days, 36_500))
}

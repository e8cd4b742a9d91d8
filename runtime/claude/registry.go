package claude

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// entryBytes is more than an entry of the register has.
	entryBytes = 64 << 10
	// entryNames and entryFiles bound how many names of the register are looked at, and how many files are read.
	entryNames, entryFiles = 20_000, 1_000
	// tornPauses are how often, and after how long, an entry is read again that was caught while it was written.
	tornPauses = 3
	tornPause  = 5 * time.Millisecond
)

// The states of a process in the register.
const (
	StatusIdle    = "idle"
	StatusBusy    = "busy"
	StatusWaiting = "waiting" // for a person; Entry.WaitingFor tells for what
	StatusShell   = "shell"   // idle, while a command runs in the background
)

// Entry is what a living Claude Code notes of itself in the register of its config directory. Its texts are one line
// each, cut, and fit to be shown, but Cwd, which is as it was noted.
type Entry struct {
	Pid          int
	Start        uint64 // when the process began, as the system counts it; zero where it does not
	Conversation string
	Status       string // a Status…, one not known here, or empty: its prompt is not up yet
	WaitingFor   string
	Cwd          string
	Version      string
	Kind         string // interactive or bg
	Name         string
	StatusAt     time.Time // since when it has this status, by the wall clock
	Parents      []int     // the processes that it descends from, nearest first
}

// RegistryDir is where the processes of a config directory note what they do.
func RegistryDir(configDir string) string { return filepath.Join(configDir, "sessions") }

// ReadRegistry reads the register of a config directory: the entries whose process is alive and is the one that wrote
// them, in the order of their pids. On Linux that is held against the start of the process; elsewhere only against the
// wall clock, which tells a pid that was given out anew since. A register that is not there has no entries. An entry
// that is being written is read again for a moment, and left out where that does not help.
func ReadRegistry(configDir string) ([]Entry, error) {
	dir := RegistryDir(configDir)
	seen := looks{}
	pids, err := registered(dir, seen)
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for try := 0; len(pids) > 0 && try <= tornPauses; try++ {
		if try > 0 {
			time.Sleep(tornPause)
		}
		var torn []int
		for _, pid := range pids {
			entry, err := readEntry(dir, pid, seen)
			switch {
			case err == nil:
				entries = append(entries, entry)
			case errors.Is(err, errTorn):
				torn = append(torn, pid)
			}
		}
		pids = torn
	}
	slices.SortFunc(entries, func(a, b Entry) int { return a.Pid - b.Pid })
	return entries, nil
}

// registered are the pids that have an entry and a living process.
func registered(dir string, seen looks) ([]int, error) {
	names, err := readNames(dir, entryNames)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, name := range names {
		digits, ok := strings.CutSuffix(name, ".json")
		pid, err := strconv.Atoi(digits)
		if !ok || err != nil || pid <= 1 || strconv.Itoa(pid) != digits {
			continue
		}
		if _, alive := seen.process(pid); alive {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids[max(0, len(pids)-entryFiles):], nil
}

// readNames are the names in a directory, at most limit of them.
func readNames(dir string, limit int) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(limit)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return names, errors.Join(err, d.Close())
}

var (
	errTorn     = errors.New("not a whole entry")
	errNotAlive = errors.New("another process's entry")
)

// entryFile is an entry on disk. procStart has been a string so far, which need not be a number where it is not Linux.
type entryFile struct {
	Pid        int             `json:"pid"`
	ProcStart  json.RawMessage `json:"procStart"`
	SessionID  string          `json:"sessionId"`
	Cwd        string          `json:"cwd"`
	StartedAt  float64         `json:"startedAt"`
	Version    string          `json:"version"`
	Kind       string          `json:"kind"`
	Name       string          `json:"name"`
	Status     string          `json:"status"`
	StatusAt   float64         `json:"statusUpdatedAt"`
	WaitingFor string          `json:"waitingFor"`
}

// readEntry reads the entry of a process that was looked at before: one that is of another since has another start.
func readEntry(dir string, pid int, seen looks) (Entry, error) {
	process, _ := seen.process(pid)
	data, changed, err := readRegular(filepath.Join(dir, strconv.Itoa(pid)+".json"), entryBytes)
	if err != nil {
		return Entry{}, err
	}
	entry, err := parseEntry(data, pid, process)
	if entry.StatusAt.IsZero() {
		entry.StatusAt = changed
	}
	entry.Parents = parentsOf(process.parent, maxParents, seen.process)
	return entry, err
}

// parseEntry makes an Entry of a file's content, if it is of this process. Fields of an unexpected type count as absent.
func parseEntry(data []byte, pid int, process processLook) (Entry, error) {
	var f entryFile
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(data, &f); err != nil && !errors.As(err, &wrongType) {
		return Entry{}, errTorn
	}
	noted, err := strconv.ParseUint(strings.Trim(string(f.ProcStart), `"`), 10, 64)
	switch {
	case f.Pid != pid:
		return Entry{}, errNotAlive
	case process.start != 0 && (err != nil || noted != process.start):
		return Entry{}, errNotAlive
	case process.start == 0 && millis(f.StartedAt).Before(process.began.Add(-clockSlack)):
		return Entry{}, errNotAlive // the process began after the entry did
	}
	return Entry{
		Pid: pid, Start: process.start, Conversation: oneWord(f.SessionID), Status: oneWord(f.Status),
		WaitingFor: oneWord(f.WaitingFor), Cwd: f.Cwd, Version: oneWord(f.Version), Kind: oneWord(f.Kind),
		Name: OneText(f.Name), StatusAt: millis(f.StatusAt),
	}, nil
}

// clockSlack is how far two readings of the wall clock may be from what they are held to be.
const clockSlack = 2 * time.Second

func oneWord(s string) string { return cut(clean(s), wordBytes) }

// millis is a time in milliseconds since 1970; zero where it cannot be one.
func millis(ms float64) time.Time {
	if !(ms > 0 && ms < 4e15) { // NaN too
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// readRegular reads a whole regular file of at most limit bytes, and when it was changed.
func readRegular(path string, limit int64) ([]byte, time.Time, error) {
	f, about, err := openRegular(path)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer func() { _ = f.Close() }() // only read
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errUnfit
	}
	return data, about.ModTime(), err
}

var errUnfit = errors.New("not a regular file, or too large")

// OfProcess is the entry of the process pid or, where pid has none, of the nearest that descends from it: the program of
// a session may be a script that starts Claude Code. Where several are equally near it is the one of the lowest pid that
// a person talks to.
func OfProcess(entries []Entry, pid int) (Entry, bool) {
	best, depth := -1, 0
	for i, e := range entries {
		d := 0
		if e.Pid != pid {
			if d = slices.Index(e.Parents, pid) + 1; d == 0 {
				continue
			}
		}
		if best < 0 || d < depth || d == depth && e.interactive() && !entries[best].interactive() {
			best, depth = i, d
		}
	}
	if best < 0 {
		return Entry{}, false
	}
	return entries[best], true
}

func (e Entry) interactive() bool { return e.Kind == "interactive" }

// OfConversation are the entries of the processes that have a conversation open: two of them lose what one says.
func OfConversation(entries []Entry, conversation string) []Entry {
	var all []Entry
	for _, e := range entries {
		if e.Conversation == conversation {
			all = append(all, e)
		}
	}
	return all
}

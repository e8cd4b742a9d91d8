package launch

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

// Record is what became of one run of a session's program.
type Record struct {
	Session string
	Run     int
	hitchpost.Exit
	Pid       int       // of the program; 0 where it could not be started
	StartedAt time.Time // zero where it could not be started
	// Hangup tells that the terminal was gone when the program ended: tmux was killed, or its session was. The program
	// then mostly ended for that reason, and not of itself.
	Hangup      bool
	Error       string  // why it could not be started, for people; Code is 126 or 127 then, as a shell would say
	UserSeconds float64 // of the program and of those of its children that it waited for
	// SystemSeconds is the kernel's part of the same.
	SystemSeconds float64
	// MaxRSSBytes is the memory of the largest of these processes. The kernel counts from the fork on, so it is never
	// less than what the wrapper itself had (getrusage(2)).
	MaxRSSBytes int64
}

// recordFile is a Record on disk.
type recordFile struct {
	Version       int        `json:"version"`
	Session       string     `json:"session"`
	Run           int        `json:"run"`
	Code          *int       `json:"exit_code"`
	Signal        string     `json:"exit_signal,omitempty"`
	EndedAt       time.Time  `json:"ended_at"`
	Pid           int        `json:"pid,omitempty"`
	StartedAt     *time.Time `json:"started_at,omitempty"`
	Hangup        bool       `json:"hangup,omitempty"`
	Error         string     `json:"error,omitempty"`
	UserSeconds   float64    `json:"user_seconds"`
	SystemSeconds float64    `json:"system_seconds"`
	MaxRSSBytes   int64      `json:"max_rss_bytes"`
}

// errorLimit keeps a record within the space reserved for it.
const errorLimit = 1 << 10

func (r Record) encode() ([]byte, error) {
	f := recordFile{
		Version: 1, Session: r.Session, Run: r.Run, Code: r.Code, Signal: r.Signal, EndedAt: r.At.UTC(), Pid: r.Pid,
		Hangup:      r.Hangup,
		Error:       strings.ToValidUTF8(r.Error[:min(len(r.Error), errorLimit)], ""),
		UserSeconds: r.UserSeconds, SystemSeconds: r.SystemSeconds, MaxRSSBytes: r.MaxRSSBytes,
	}
	if !r.StartedAt.IsZero() {
		at := r.StartedAt.UTC()
		f.StartedAt = &at
	}
	return json.Marshal(f)
}

// ReadRecord reads the record at path. The error is os.ErrNotExist while the run has not ended, or when its wrapper was
// killed; a torn or foreign file is another error. It reads that one file and no temporary one beside it.
func ReadRecord(path string) (Record, error) {
	data, err := durable.Read(path, durable.Reserved)
	if err != nil {
		return Record{}, fmt.Errorf("read exit record: %w", err)
	}
	var f recordFile
	if err := json.Unmarshal(data, &f); err != nil {
		return Record{}, fmt.Errorf("read exit record %s: %w", path, err)
	}
	if f.Version != 1 || f.EndedAt.IsZero() || (f.Code == nil) == (f.Signal == "") {
		return Record{}, fmt.Errorf("read exit record: %s is not one", path)
	}
	r := Record{
		Session: f.Session, Run: f.Run, Exit: hitchpost.Exit{Code: f.Code, Signal: f.Signal, At: f.EndedAt},
		Pid: f.Pid, Hangup: f.Hangup, Error: f.Error, UserSeconds: f.UserSeconds, SystemSeconds: f.SystemSeconds,
		MaxRSSBytes: f.MaxRSSBytes,
	}
	if f.StartedAt != nil {
		r.StartedAt = *f.StartedAt
	}
	return r, nil
}

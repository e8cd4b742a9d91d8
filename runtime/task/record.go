package task

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

// Record is what became of a task.
type Record struct {
	// Code is the exit code of the command's first process, and nil where a signal ended it or it never ran. It is 126
	// or 127, with an Error, where the command could not be started.
	Code   *int
	Signal string // that ended the command's first process, without SIG; empty: none
	// Cancelled tells that Cancel ended the command, or kept it from being started.
	Cancelled bool
	// TimedOut tells that the time limit ended it.
	TimedOut bool
	// Hangup tells that the runner's terminal was gone or the runner was told to end: the machine or tmux went down, and
	// the command did not end of itself. Such a task is LOST; EndedAt is when its processes were gone.
	Hangup bool
	// InputCut tells that the end of the command's standard input was not the end of what it was to get: who fed it went
	// away.
	InputCut bool
	// StartedAt is zero where the command was never started. The time from StartedAt to EndedAt is real, also where
	// somebody set the clock meanwhile.
	StartedAt, EndedAt time.Time
	UserSeconds        float64 // of all processes of the task that were waited for; on Linux that is all that ended before it
	SystemSeconds      float64 // the kernel's part of the same
	// MaxRSSBytes is the memory of the largest of these processes. The kernel counts from the fork on, so it is never
	// less than what the runner itself had (getrusage(2)).
	MaxRSSBytes int64
	LogBytes    int64  // all bytes that the command wrote, kept in the log or not
	Error       string // why it could not be started, for people
}

// Exit is the end of the command's first process.
func (r Record) Exit() hitchpost.Exit {
	return hitchpost.Exit{Code: r.Code, Signal: r.Signal, At: r.EndedAt}
}

// recordFile is a Record on disk.
type recordFile struct {
	Version       int        `json:"version"`
	Code          *int       `json:"exit_code"`
	Signal        string     `json:"exit_signal,omitempty"`
	Cancelled     bool       `json:"cancelled,omitempty"`
	TimedOut      bool       `json:"timed_out,omitempty"`
	Hangup        bool       `json:"hangup,omitempty"`
	InputCut      bool       `json:"input_cut,omitempty"`
	StartedAt     *time.Time `json:"started_at,omitempty"`
	EndedAt       time.Time  `json:"ended_at"`
	UserSeconds   float64    `json:"user_seconds"`
	SystemSeconds float64    `json:"system_seconds"`
	MaxRSSBytes   int64      `json:"max_rss_bytes"`
	LogBytes      int64      `json:"log_bytes"`
	Error         string     `json:"error,omitempty"`
}

// errorLimit keeps a record within the space reserved for it.
const errorLimit = 1 << 10

func (r Record) encode() ([]byte, error) {
	f := recordFile{
		Version: 1, Code: r.Code, Signal: r.Signal, Cancelled: r.Cancelled, TimedOut: r.TimedOut, Hangup: r.Hangup,
		InputCut: r.InputCut, EndedAt: r.EndedAt.UTC(),
		UserSeconds: r.UserSeconds, SystemSeconds: r.SystemSeconds, MaxRSSBytes: r.MaxRSSBytes,
		LogBytes: r.LogBytes, Error: strings.ToValidUTF8(r.Error[:min(len(r.Error), errorLimit)], ""),
	}
	if !r.StartedAt.IsZero() {
		at := r.StartedAt.UTC()
		f.StartedAt = &at
	}
	return json.Marshal(f)
}

// readRecord wraps fs.ErrNotExist where there is none. A torn or foreign file is another error.
func readRecord(folder string) (*Record, error) {
	path := in(folder, RecordName)
	data, err := durable.Read(path, durable.Reserved)
	if err != nil {
		return nil, err
	}
	var f recordFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
	}
	known := (f.Code == nil) != (f.Signal == "")
	neverRan := f.Code == nil && f.Signal == "" && f.StartedAt == nil && (f.Cancelled || f.Hangup)
	if f.Version != 1 || f.EndedAt.IsZero() || !(known || neverRan) {
		return nil, fmt.Errorf("%s is not the record of a task: %w", path, ErrDamaged)
	}
	r := &Record{
		Code: f.Code, Signal: f.Signal, Cancelled: f.Cancelled, TimedOut: f.TimedOut, Hangup: f.Hangup, InputCut: f.InputCut,
		EndedAt:     f.EndedAt,
		UserSeconds: f.UserSeconds, SystemSeconds: f.SystemSeconds, MaxRSSBytes: f.MaxRSSBytes, LogBytes: f.LogBytes,
		Error: f.Error,
	}
	if f.StartedAt != nil {
		r.StartedAt = *f.StartedAt
	}
	return r, nil
}

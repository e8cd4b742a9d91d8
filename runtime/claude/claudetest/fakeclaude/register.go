package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// entry is what a live process tells of itself in sessions/.
type entry struct {
	Pid        int    `json:"pid"`
	SessionID  string `json:"sessionId"`
	Cwd        string `json:"cwd"`
	StartedAt  int64  `json:"startedAt"`
	ProcStart  string `json:"procStart"`
	Version    string `json:"version"`
	Kind       string `json:"kind"`
	Entrypoint string `json:"entrypoint"`
	Name       string `json:"name"`
	NameSource string `json:"nameSource,omitempty"`
	Status     string `json:"status,omitempty"`
	UpdatedAt  int64  `json:"updatedAt,omitempty"`
	StatusAt   int64  `json:"statusUpdatedAt,omitempty"`
	WaitingFor string `json:"waitingFor,omitempty"`
}

// procStart is field 22 of /proc/self/stat. The second field holds the program's name, which may have blanks in it.
func procStart() string {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return ""
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fields[19]
}

// register writes the entry as it is now; p.mu is held.
func (p *program) register() {
	dir := filepath.Join(p.config, "sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return
	}
	doc, _ := json.Marshal(p.entry)
	// The real one writes over what is there and then cuts: a reader may see the tail of a longer one behind it.
	if file, err := os.OpenFile(p.entryPath(), os.O_WRONLY|os.O_CREATE, 0o600); err == nil {
		_, _ = file.Write(doc)
		_ = file.Truncate(int64(len(doc)))
		_ = file.Close()
	}
	_ = os.WriteFile(p.keyPath(), []byte("key"), 0o600)
}

func (p *program) unregister() {
	_ = os.Remove(p.entryPath())
	_ = os.Remove(p.keyPath())
}

func (p *program) entryPath() string {
	return filepath.Join(p.config, "sessions", fmt.Sprintf("%d.json", os.Getpid()))
}

func (p *program) keyPath() string {
	return filepath.Join(p.config, "sessions", fmt.Sprintf("%d.%064x.key", os.Getpid(), p.entry.StartedAt))
}

// status tells a new state; waitingFor goes with "waiting".
func (p *program) status(status, waitingFor string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().UnixMilli()
	p.entry.SessionID, p.entry.Status, p.entry.WaitingFor = p.id, status, waitingFor
	p.entry.StatusAt, p.entry.UpdatedAt = now, now
	p.register()
}

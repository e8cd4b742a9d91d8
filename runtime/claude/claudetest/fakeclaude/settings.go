package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// settings is as much of the settings files as matters here.
type settings struct {
	Hooks            map[string][]matcher `json:"hooks"`
	DisableAllHooks  *bool                `json:"disableAllHooks"`
	DisableAgentView *bool                `json:"disableAgentView"`
	TUI              string               `json:"tui"`

	unknown []string // hook events that there are none of
}

type matcher struct {
	Matcher string    `json:"matcher"`
	Hooks   []command `json:"hooks"`
}

type command struct {
	Type    string  `json:"type"`
	Command string  `json:"command"`
	Timeout float64 `json:"timeout"` // seconds
	Async   bool    `json:"async"`
}

// readSettings joins the person's settings, the project's and those of --settings: hooks add up, of the rest the last
// counts.
func readSettings(f flags, config, dir string) (settings, error) {
	var all settings
	add := func(text []byte) error {
		var s settings
		if err := json.Unmarshal(text, &s); err != nil {
			return err
		}
		if all.Hooks == nil {
			all.Hooks = map[string][]matcher{}
		}
		for event, matchers := range s.Hooks {
			if !slices.Contains(events(), event) {
				all.unknown = append(all.unknown, event)
				continue
			}
			all.Hooks[event] = append(all.Hooks[event], matchers...)
		}
		if s.DisableAllHooks != nil {
			all.DisableAllHooks = s.DisableAllHooks
		}
		if s.DisableAgentView != nil {
			all.DisableAgentView = s.DisableAgentView
		}
		if s.TUI != "" {
			all.TUI = s.TUI
		}
		return nil
	}
	for _, name := range []string{
		filepath.Join(config, "settings.json"), filepath.Join(dir, ".claude", "settings.json"),
		filepath.Join(dir, ".claude", "settings.local.json"),
	} {
		if text, err := os.ReadFile(name); err == nil {
			_ = add(text) // a broken file of the person's is passed over
		}
	}
	if f.settings != "" {
		text := []byte(f.settings)
		if !strings.HasPrefix(strings.TrimSpace(f.settings), "{") {
			var err error
			if text, err = os.ReadFile(f.settings); err != nil {
				return all, errors.New("Error: Settings file not found: " + f.settings)
			}
		}
		if err := add(text); err != nil {
			return all, errors.New("Error: Invalid JSON provided to --settings")
		}
	}
	if f.noHooks || all.DisableAllHooks != nil && *all.DisableAllHooks {
		all.Hooks = nil
	}
	return all, nil
}

// events are those that hooks may be given for; another one is asked about before anything else.
func events() []string {
	return strings.Fields(`PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit
		UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact
		PreModelSwitch PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted
		Elicitation ElicitationResult ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged
		DirectoryAdded MessageDisplay PreSkillShellCommand`)
}

// trusted reports whether the directory, or one above it, was said to be trusted. Without a .claude.json all is.
func trusted(config, dir string) bool {
	name := filepath.Join(config, ".claude.json")
	if os.Getenv("CLAUDE_CONFIG_DIR") == "" {
		name = filepath.Join(os.Getenv("HOME"), ".claude.json")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return true
	}
	var answers struct {
		Projects map[string]struct {
			Trusted bool `json:"hasTrustDialogAccepted"`
		} `json:"projects"`
	}
	if json.Unmarshal(text, &answers) != nil {
		return true
	}
	for ; ; dir = filepath.Dir(dir) {
		if answers.Projects[dir].Trusted {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

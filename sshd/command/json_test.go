package command_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

// document is the one document that stdout must hold.
func document(t *testing.T, r result) map[string]any {
	t.Helper()
	if r.status != 0 || r.errors != "" || r.writes != 1 {
		t.Fatalf("status %d, stderr %q, %d writes", r.status, r.errors, r.writes)
	}
	if !strings.HasSuffix(r.out, "\n") || strings.Count(r.out, "\n") != 1 || strings.Contains(r.out, "\r") {
		t.Errorf("not one line: %q", r.out)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(r.out), &doc); err != nil {
		t.Fatalf("%v: %s", err, r.out)
	}
	return doc
}

var fullDocument = map[string]any{
	"id": "0193a000-0000-7000-8000-000000000001", "handle": "api", "title": "api <wörk> & \"play\"", "kind": "command",
	"node": "box", "project": "shop", "cwd": "/home/dev/src/api", "repo": "api", "branch": "main", "worktree": "/data/worktrees/api-fix", "state": "FAILED",
	"clash": []any{
		map[string]any{"agent": "claude", "session": "web", "pid": nil, "since": "2026-03-04T04:06:07.000Z", "dir": "/home/dev/src/api"},
		map[string]any{"agent": "codex", "session": nil, "pid": 77.0, "since": nil, "dir": nil},
	},
	"state_reason": "ended with code 7", "state_source": "exit", "state_since": "2026-03-04T05:04:37.000Z", "attached": 2.0,
	"args": []any{"make", "a b"}, "conversation_id": "c-1", "agent": agentDocument, "exit_code": 7.0, "exit_signal": nil, "restarts": 3.0,
	"note": "next: tests", "check": "make test", "created_at": "2026-03-02T04:06:07.000Z",
	"started_at": "2026-03-04T02:06:07.005Z", "ended_at": "2026-03-04T05:04:37.000Z",
	"last_output_at": "2026-03-04T05:04:07.000Z", "last_attached_at": "2026-03-04T06:06:07.000Z", "closed_at": nil,
}

var agentDocument = map[string]any{
	"program": "/opt/claude", "version": "2.1.332", "config_dir": "/home/dev/.claude", "status": "busy",
	"status_source": "registry", "status_at": "2026-03-04T05:06:04.000Z",
	"uncertain": "the register says busy, the last hook says turn finished", "hooks": "not seen", "screen": "alternate",
	"title": "Fix \x1b[31mit\u202e", "last_prompt": "fix\nit", "last_answer": "日本 done\x07",
	"tokens":     map[string]any{"input": 10.0, "output": 20.0, "context": 30.0},
	"transcript": "/home/dev/.claude/projects/x/c-1.jsonl",
	"former": []any{
		map[string]any{"id": "c-0", "since": "2026-03-02T04:06:07.000Z", "until": "2026-03-04T03:06:07.000Z", "how": "clear"},
		map[string]any{"id": "c-0b", "since": "2026-03-04T03:06:07.000Z", "until": "2026-03-04T04:06:07.000Z", "how": nil},
	},
}

// An agent of which nothing is known has every field.
func TestDocumentOfAnUnknownAgent(t *testing.T) {
	t.Parallel()
	s := bare()
	s.Agent = &hitchpost.Agent{}
	got := document(t, client{t: t, service: &fake{sessions: []hitchpost.Session{s}}}.line("show sh --json"))["agent"]
	want := map[string]any{"former": []any{}}
	for field := range agentDocument {
		if field != "former" {
			want[field] = nil
		}
	}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

var bareDocument = map[string]any{
	"id": "0193a000-0000-7000-8000-000000000002", "handle": "sh", "title": "sh", "kind": "shell", "node": "box", "project": nil,
	"cwd": "/", "repo": nil, "branch": nil, "worktree": nil, "clash": nil, "state": "STARTING", "state_reason": nil, "state_source": "person",
	"state_since": "2026-03-04T05:06:07.000Z", "attached": 0.0, "args": []any{}, "conversation_id": nil, "agent": nil, "exit_code": nil,
	"exit_signal": nil, "restarts": 0.0, "note": nil, "check": nil, "created_at": "2026-03-04T05:06:07.000Z",
	"started_at": nil, "ended_at": nil, "last_output_at": nil, "last_attached_at": nil, "closed_at": nil,
}

func TestDocumentsOfSessions(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full(), bare()}, screen: "$ make\n"}
	c := client{t: t, service: f}
	list := map[string]any{"version": 1.0, "sessions": []any{fullDocument, bareDocument}}
	withScreen := map[string]any{"screen": "$ make\n", "screen_seen_at": nil}
	for k, v := range bareDocument {
		withScreen[k] = v
	}
	for line, want := range map[string]map[string]any{
		"ls --json":                  list,
		"--json ls --all":            list,
		"--json":                     list,
		"show api --json":            fullDocument,
		"show --json sh":             bareDocument,
		"--json show sh":             bareDocument,
		"show sh --screen --json":    withScreen,
		"new --json":                 fullDocument,
		"restart api --json":         fullDocument,
		"stop api --json":            fullDocument,
		"close sh --json":            bareDocument,
		"rename sh 'a title' --json": bareDocument,
		"capture sh --json":          {"text": "$ make\n", "seen_at": nil},
		"history sh --json --ansi":   {"text": "$ make\n", "seen_at": nil},
		"version --json":             {"version": "1.2.3"},
	} {
		if diff := cmp.Diff(want, document(t, c.line(line))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", line, diff)
		}
	}
}

func TestEmptyListsAreLists(t *testing.T) {
	t.Parallel()
	c := client{t: t, service: &fake{}}
	for line, want := range map[string]string{
		"ls --json":      `{"version":1,"sessions":[]}` + "\n",
		"key ls --json":  `{"version":1,"keys":[]}` + "\n",
		"node ls --json": `{"version":1,"nodes":[]}` + "\n",
		"events --json":  `{"version":1,"events":[]}` + "\n",
	} {
		if r := c.line(line); r.out != want || r.status != 0 {
			t.Errorf("%s: %d %q", line, r.status, r.out)
		}
	}
}

func TestDocumentsOfTheRest(t *testing.T) {
	t.Parallel()
	key := hitchpost.Key{
		Fingerprint: "SHA256:x", AuthorizedKey: "ssh-ed25519 x", Type: "ssh-ed25519", Actor: "bob",
		Role: hitchpost.Viewer, CreatedAt: now,
	}
	f := &fake{keys: []hitchpost.Key{key}, status: hitchpost.Status{
		Version: "1.2.3", Started: now.Add(-time.Hour), Database: hitchpost.Part{Reason: "refused", Since: now},
		Nodes:    []hitchpost.Node{{ID: nodeID, Name: "box", State: hitchpost.Offline, Reason: "no answer", Since: now}},
		Sessions: map[hitchpost.State]int{hitchpost.Running: 2}, Clients: 3,
	}}
	keyDocument := func(revoked, expires any) map[string]any {
		return map[string]any{
			"fingerprint": "SHA256:x", "key_type": "ssh-ed25519", "comment": nil, "actor": "bob", "role": "viewer",
			"created_at": "2026-03-04T05:06:07.000Z", "expires_at": expires, "revoked_at": revoked, "last_used_at": nil,
			"authorized_key": "ssh-ed25519 x",
		}
	}
	added := keyDocument(nil, "2026-06-02T05:06:07.000Z")
	added["actor"], added["role"], added["comment"] = "ann", "operator", "ann's key"
	node := map[string]any{
		"id": nodeID, "name": "box", "state": "OFFLINE", "reason": "no answer", "since": "2026-03-04T05:06:07.000Z",
	}
	c := client{t: t, service: f}
	for line, want := range map[string]map[string]any{
		"whoami --json": {
			"actor": "ann", "role": "admin", "fingerprint": "SHA256:abc", "key_type": "ssh-ed25519", "login": "dev",
			"remote": "192.0.2.1:5022",
		},
		"key ls --json":              {"version": 1.0, "keys": []any{keyDocument(nil, nil)}},
		"key revoke SHA256:x --json": keyDocument("2026-03-04T05:06:07.000Z", nil),
		"key revoke --actor bob --json": {
			"version": 1.0, "keys": []any{keyDocument("2026-03-04T05:06:07.000Z", nil)},
		},
		`key add ssh-ed25519 x "ann's" key --expires 90d --json`: added,
		"node ls --json": {"version": 1.0, "nodes": []any{node}},
		"status --json": {
			"version": "1.2.3", "started_at": "2026-03-04T04:06:07.000Z",
			"database": map[string]any{"ok": false, "reason": "refused", "since": "2026-03-04T05:06:07.000Z"},
			"nodes":    []any{node}, "clients": 3.0,
			"sessions": map[string]any{
				"STARTING": 0.0, "RUNNING": 2.0, "DETACHED": 0.0, "WAITING_FOR_INPUT": 0.0, "STOPPING": 0.0,
				"STOPPED": 0.0, "FAILED": 0.0, "RECOVERABLE": 0.0,
			},
		},
	} {
		if diff := cmp.Diff(want, document(t, c.line(line))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", line, diff)
		}
	}
}

// A document may be read on a terminal: no byte of it may act there.
func TestDocumentsHoldNoControlCharacters(t *testing.T) {
	t.Parallel()
	s := bare()
	s.Cwd = "/a\x1b[31m\x07\x7f\u0080\u009b1m\u009f\n\u2028é"
	r := client{t: t, service: &fake{sessions: []hitchpost.Session{s}}}.line("show sh --json")
	if doc := document(t, r); doc["cwd"] != s.Cwd {
		t.Errorf("%q became %q", s.Cwd, doc["cwd"])
	}
	for _, r := range strings.TrimSuffix(r.out, "\n") {
		if r < 0x20 || r >= 0x7f && r <= 0x9f {
			t.Errorf("%U in the document", r)
		}
	}
}

func TestErrorsAsJSON(t *testing.T) {
	t.Parallel()
	f := &fake{sessions: []hitchpost.Session{full()}}
	elsewhere := "`ssh host help` lists the verbs; a session of that name is attached to with a terminal, by ssh -t"
	for line, want := range map[string][3]string{
		"show nope --json":       {"not_found", `no session "nope"`, "ls lists them"},
		"key revoke nope --json": {"not_found", `no key "nope"`, ""},
		"ls --nope --json":       {"usage", "unknown flag: --nope", "see `ssh host ls --help`"},
		"frobnicate --json":      {"usage", `no verb "frobnicate"`, elsewhere},
		"key nope --json":        {"usage", `no verb "key nope"`, "`ssh host key --help` lists the verbs"},
	} {
		r := client{t: t, service: f}.line(line)
		var hint any
		if want[2] != "" {
			hint = want[2]
		}
		var got any
		if err := json.Unmarshal([]byte(r.errors), &got); err != nil {
			t.Fatalf("%s: %v: %q", line, err, r.errors)
		}
		document := map[string]any{"error": map[string]any{"code": want[0], "message": want[1], "hint": hint}}
		if diff := cmp.Diff(any(document), got); diff != "" || r.out != "" || r.status == 0 {
			t.Errorf("%s: %d %q (-want +got)\n%s", line, r.status, r.out, diff)
		}
	}
	// What stands behind -- is the program's.
	if r := (client{t: t, service: f}).line("stop -- --json"); strings.HasPrefix(r.errors, "{") || r.status != 3 {
		t.Errorf("%d %q", r.status, r.errors)
	}
}

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// startHitchpost serves with a new data directory and its private PostgreSQL, as `make run` does.
func startHitchpost(ctx context.Context, binary string, s *scratch, name string) (*side, error) {
	binary, err := filepath.Abs(binary)
	if err != nil {
		return nil, err
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.dir, name)
	pid, log, stop, err := s.start(name, binary, "serve", "--listen", addr, "--data-dir", data)
	if err != nil {
		return nil, err
	}
	h := &side{name: name, addr: addr, user: "bench", key: s.key, keyFile: s.keyFile}
	h.verb, h.task = "ls --json", "task run --wait -- true"
	h.version = version(binary, "version")
	sock := tmuxSocket(binary, s, data)
	h.tmux = func() []int { return tmuxPid(sock()) }
	h.front = func() []int { return append([]int{pid}, postmaster(data)...) }
	h.seed = func(ctx context.Context, n int) error { return keepSessions(ctx, data, n) }
	h.stop = func() {
		stop()
		endSessions(context.WithoutCancel(ctx), sock()) // they are meant to outlive the service
	}
	h.attach = func(session string) string { return "attach " + session }
	h.open = func(ctx context.Context, session, script string) error {
		return h.exec(ctx, "new --title "+session+" -- sh -c "+quoted(script))
	}
	h.end = func(session string) {
		ctx := context.WithoutCancel(ctx)
		_ = errors.Join(h.exec(ctx, "stop --signal KILL "+session), h.exec(ctx, "close "+session))
	}
	err = eventually(ctx, 60*time.Second, "line `listening` in the log", func() bool {
		text, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(text), "listening")
	})
	if err != nil {
		h.stop()
		return nil, fmt.Errorf("hitchpost serve: %w\n%s", err, lastLines(log))
	}
	return h, nil
}

// fill starts n sessions that only wait.
func (s *side) fill(ctx context.Context, n int) error {
	c, err := s.dial(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for i := range n {
		session, err := c.NewSession()
		if err != nil {
			return err
		}
		if out, err := session.CombinedOutput(fmt.Sprintf("new --title idle-%d -- sleep 1000000", i)); err != nil {
			return fmt.Errorf("new: %w: %s", err, out)
		}
	}
	return nil
}

// keepSessions writes n sessions that have ended into the private PostgreSQL: ls answers from there, and it would take
// long to start so many.
func keepSessions(ctx context.Context, data string, n int) error {
	socket := filepath.Join(data, "postgres", "run")
	conn, err := pgx.Connect(ctx, "host="+socket+" user=hitchpost dbname=hitchpost sslmode=disable")
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `insert into terminal_sessions (id, handle, title, kind, node_id, cwd, state, state_reason,
			state_source, state_since, args, exit_code, created_at, started_at, ended_at, last_output_at)
		select gen_random_uuid(), 'kept-' || i, 'Kept ' || i, 'command', node.id, '/srv/kept', 'STOPPED', 'exit 0',
			'exit', now(), array['make', 'all'], 0, now() + i * interval '1 microsecond', now(), now(), now()
		from terminal_nodes node, generate_series(1, $1::int) i`, n)
	return errors.Join(err, conn.Close(ctx))
}

// tmuxSocket asks doctor where the tmux socket is, once; it lies elsewhere where the data directory's path is long.
func tmuxSocket(binary string, s *scratch, data string) func() string {
	known := ""
	return func() string {
		if known == "" {
			cmd := exec.Command(binary, "doctor", "--json", "--data-dir", data)
			cmd.Env = s.environ()
			out, _ := cmd.Output() // its status tells of the machine's health, which is not asked for
			var answer struct {
				Socket string `json:"tmux_socket"`
			}
			if json.Unmarshal(out, &answer) == nil && answer.Socket != "" {
				known = answer.Socket
			} else {
				return filepath.Join(data, "tmux", "tmux.sock")
			}
		}
		return known
	}
}

func tmuxPid(sock string) []int {
	out, err := exec.Command("tmux", "-S", sock, "display-message", "-p", "#{pid}").Output()
	if err != nil {
		return nil
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return nil
	}
	return []int{pid}
}

// endSessions ends a tmux server with all its panes, and waits until the programs are gone, which write to the scratch
// folder to the last.
func endSessions(ctx context.Context, sock string) {
	out, _ := exec.Command("tmux", "-S", sock, "list-panes", "-a", "-F", "#{pid} #{pane_pid}").Output()
	_ = exec.Command("tmux", "-S", sock, "kill-server").Run()
	_ = eventually(ctx, 20*time.Second, "end of the sessions", func() bool {
		for field := range strings.FieldsSeq(string(out)) {
			if pid, err := strconv.Atoi(field); err == nil && syscall.Kill(pid, 0) == nil {
				return false
			}
		}
		return true
	})
}

// postmaster is the private PostgreSQL, which is part of what Hitchpost costs; its pid is the first line of a file that
// PostgreSQL documents.
func postmaster(data string) []int {
	text, err := os.ReadFile(filepath.Join(data, "postgres", "data", "postmaster.pid"))
	if err != nil {
		return nil
	}
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return nil
	}
	return []int{pid}
}

// version is the first line that a program says about itself, on either stream, up to a comma.
func version(program string, args ...string) string {
	out, err := exec.Command(program, args...).CombinedOutput()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		return "unknown version"
	}
	first, _, _ := strings.Cut(string(out), "\n")
	first, _, _ = strings.Cut(first, ",")
	return strings.TrimSpace(first)
}

// hostPort splits an address of ours.
func hostPort(addr string) (host, port string) {
	host, port, _ = net.SplitHostPort(addr)
	return host, port
}

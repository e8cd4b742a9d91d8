package runtime_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// shows waits until the session's terminal shows a text.
func (r *rig) shows(id, text string) {
	r.t.Helper()
	var got []byte
	eventually(r.t, func() bool {
		var err error
		got, err = r.captured(admin, id, hitchpost.CaptureRequest{History: true})
		return err == nil && strings.Contains(string(got), text)
	}, func() string { return fmt.Sprintf("no %q in %s", text, got) })
}

func (r *rig) send(ref, text string, keys ...string) bool {
	r.t.Helper()
	got, err := r.Send(context.Background(), admin, ref, hitchpost.SendRequest{Text: text, Keys: keys})
	must(r.t, err)
	return got.Seen
}

func (r *rig) shell() hitchpost.Session {
	r.t.Helper()
	res, err := r.Start(context.Background(), admin, hitchpost.StartRequest{Kind: hitchpost.Shell})
	must(r.t, err)
	r.shows(res.Session.ID, "#")
	return res.Session
}

// typedInto starts a session that shows nothing of what is typed by itself and has program, such as "cat > ", write it to a
// file.
func (r *rig) typedInto(title, program string) (s hitchpost.Session, file string) {
	r.t.Helper()
	file = filepath.Join(r.dir, "typed")
	s = r.start(title, "sh", "-c", "stty raw -echo; echo ready; exec "+program+file)
	r.shows(s.ID, "ready")
	return s, file
}

func TestSendToAShell(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.shell()
	if !r.send(s.Handle, "echo $((6 * 7))-'done'", "Enter") {
		t.Error("a command was not seen")
	}
	r.shows(s.ID, "42-done")
	if !r.send(s.ID, "seq 1 1500; cat", "Enter") {
		t.Error("a command whose output scrolls it away was not seen")
	}
	r.shows(s.ID, "1500\n") // or the line stands among the numbers
	if !r.send(s.ID, "purr", "Enter") {
		t.Error("a line was not seen")
	}
	r.shows(s.ID, "purr\npurr\n") // by now an interrupt is for cat and not for the shell
	if !r.send(s.ID, "", "C-c") {
		t.Error("an interrupt was not seen")
	}
	r.shows(s.ID, "^C\n") // what is typed before cat has ended is cat's
	eventually(t, func() bool {
		text, err := r.captured(admin, s.ID, hitchpost.CaptureRequest{})
		return err == nil && strings.HasSuffix(strings.TrimSpace(string(text)), "#")
	}, func() string { return "no prompt" })
	if !r.send(s.ID, "exit 3", "Enter") {
		t.Error("the last command was not seen")
	}
	if got := r.becomes(s.ID, hitchpost.Failed); got.ExitCode == nil || *got.ExitCode != 3 {
		t.Errorf("exit code %v", got.ExitCode)
	}
}

func TestSendThatNobodySees(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s, out := r.typedInto("quiet", "cat > ")
	text := "pass word;\n"
	begin := time.Now()
	if r.send(s.ID, text, "Enter", "F5") {
		t.Error("seen although nothing is shown")
	}
	if took := time.Since(begin); took < time.Second {
		t.Errorf("gave up after %v", took)
	}
	raw, err := os.ReadFile(out)
	must(t, err)
	if want := text + "\r\x1b[15~"; string(raw) != want {
		t.Errorf("typed %q, want %q", raw, want)
	}
	var sent []hitchpost.Event
	eventually(t, func() bool {
		events, err := r.store.Events(context.Background(), hitchpost.EventRequest{Session: s.ID})
		must(t, err)
		sent = nil
		for _, e := range events {
			if e.Kind == store.EventSent {
				sent = append(sent, e)
			}
		}
		return len(sent) > 0
	}, func() string { return "no event" })
	if len(sent) != 1 || sent[0].Reason != "bytes: 11, keys: 2" || sent[0].Actor != "ada" {
		t.Errorf("events %+v", sent)
	}
}

func TestSendOfAMebibyte(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s, out := r.typedInto("big", "tee ")
	text := strings.Repeat("é-;'\"\\ #{pid} 0123456789abcdef\n", hitchpost.MaxSent/32-1) + "the very end"
	if !r.send(s.ID, text) {
		t.Error("not seen")
	}
	eventually(t, func() bool { raw, err := os.ReadFile(out); return err == nil && string(raw) == text },
		func() string { raw, _ := os.ReadFile(out); return fmt.Sprintf("%d of %d bytes", len(raw), len(text)) })
}

func TestSendsAtTheSameTimeKeepTheirOrder(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	out := filepath.Join(r.dir, "lines")
	s := r.start("busy", "sh", "-c", "echo ready; exec cat > "+out)
	r.shows(s.ID, "ready")
	const senders, each = 20, 4
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() {
			for j := range each {
				req := hitchpost.SendRequest{Text: fmt.Sprintf("sender %02d line %02d", i, j), Keys: []string{"Enter"}}
				if got, err := r.Send(context.Background(), admin, s.ID, req); err != nil || !got.Seen {
					t.Errorf("%s: %+v, %v", req.Text, got, err)
				}
			}
		})
	}
	wg.Wait()
	raw, err := os.ReadFile(out)
	must(t, err)
	next := map[int]int{}
	for line := range strings.Lines(string(raw)) {
		var i, j int
		if n, err := fmt.Sscanf(line, "sender %d line %d\n", &i, &j); n != 2 || next[i] != j || len(line) != len("sender 00 line 00\n") {
			t.Errorf("%q: %v, want line %d of it", line, err, next[i])
		}
		next[i]++
	}
	if len(next) != senders {
		t.Errorf("lines of %d senders:\n%s", len(next), raw)
	}
}

func TestSendIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	s, out := r.typedInto("job", "cat > ")
	over := r.start("over", "true")
	r.becomes(over.ID, hitchpost.Stopped)
	tooMuch := strings.Repeat("x", hitchpost.MaxSent+1)
	for name, c := range map[string]struct {
		by   hitchpost.Actor
		ref  string
		r    hitchpost.SendRequest
		want hitchpost.ErrorKind
	}{
		"a viewer":     {viewer, s.ID, hitchpost.SendRequest{Text: "x"}, hitchpost.DeniedError},
		"nothing":      {admin, s.ID, hitchpost.SendRequest{}, hitchpost.UsageError},
		"no session":   {admin, "none", hitchpost.SendRequest{Text: "x"}, hitchpost.NotFoundError},
		"an ended one": {admin, over.ID, hitchpost.SendRequest{Text: "x"}, hitchpost.ConflictError},
		"no key":       {admin, s.ID, hitchpost.SendRequest{Text: "x", Keys: []string{"Enter", "Entr"}}, hitchpost.UsageError},
		"end of paste": {admin, s.ID, hitchpost.SendRequest{Text: "a\x1b[201~b"}, hitchpost.UsageError},
		"8-bit end":    {admin, s.ID, hitchpost.SendRequest{Text: "a\u009b201~b"}, hitchpost.UsageError},
		"NUL":          {admin, s.ID, hitchpost.SendRequest{Text: "a\x00b"}, hitchpost.UsageError},
		"no UTF-8":     {admin, s.ID, hitchpost.SendRequest{Text: "a\xffb"}, hitchpost.UsageError},
		"delete":       {admin, s.ID, hitchpost.SendRequest{Text: "a\x7fb"}, hitchpost.UsageError},
		"too much":     {admin, s.ID, hitchpost.SendRequest{Text: tooMuch}, hitchpost.UsageError},
	} {
		_, err := r.Send(ctx, c.by, c.ref, c.r)
		if got := hitchpost.KindOf(err); got != c.want {
			t.Errorf("%s: %v of kind %q, want %q", name, err, got, c.want)
		}
	}
	r.send(s.ID, "end") // so that what was typed before would have arrived
	raw, err := os.ReadFile(out)
	must(t, err)
	if string(raw) != "end" {
		t.Errorf("typed %q", raw)
	}
}

func TestSendWhileTmuxDoesNotAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s, out := r.typedInto("job", "cat > ")
	pid, err := r.tmux.Pid(context.Background())
	must(t, err)
	must(t, syscall.Kill(pid, syscall.SIGSTOP))
	goOn := sync.OnceFunc(func() { must(t, syscall.Kill(pid, syscall.SIGCONT)) })
	defer goOn()
	begin := time.Now()
	_, err = r.Send(context.Background(), admin, s.ID, hitchpost.SendRequest{Text: "lost"})
	kind(t, err, hitchpost.UnavailableError)
	if took := time.Since(begin); took > 20*time.Second { // 5 s on a calm machine
		t.Errorf("took %v", took)
	}
	goOn()
	eventually(t, func() bool {
		_, err := r.Send(context.Background(), admin, s.ID, hitchpost.SendRequest{Text: "kept"})
		return err == nil
	}, func() string { return "tmux does not come back" })
	raw, err := os.ReadFile(out)
	must(t, err)
	if string(raw) != "kept" {
		t.Errorf("typed %q", raw)
	}
	r.killTmux()
	_, err = r.Send(context.Background(), admin, s.ID, hitchpost.SendRequest{Text: "x"})
	kind(t, err, hitchpost.ConflictError)
}

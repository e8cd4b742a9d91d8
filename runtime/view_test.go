package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime"
)

func TestAttachedIsCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.start("job", "cat")
	ctx := context.Background()
	open := func() *runtime.View {
		v, err := r.Attach(ctx, admin, hitchpost.AttachRequest{Ref: s.Handle, Terminal: hitchpost.Terminal{Size: hitchpost.Size{Cols: 80, Rows: 24}}})
		must(t, err)
		go drain(v)
		return v
	}
	a, b := open(), open()
	eventually(t, func() bool { return r.becomes(s.ID, hitchpost.Running).Attached == 2 }, func() string { return "not counted" })
	a.Close(hitchpost.EndDetached, "")
	b.Close(hitchpost.EndDetached, "")
	if got := r.becomes(s.ID, hitchpost.Detached); got.Attached != 0 || got.LastAttachedAt.IsZero() {
		t.Errorf("after both left: %+v", got)
	}
	if last := r.Last(ctx, admin); last != s.ID {
		t.Errorf("last session %q, want %q", last, s.ID)
	}
}

func drain(v *runtime.View) {
	buf := make([]byte, 4096)
	for {
		if _, err := v.Read(buf); err != nil {
			return
		}
	}
}

func TestViewEndsWithTheSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.start("job", "sh", "-c", "read x; echo the very end; exit 6")
	ctx := context.Background()
	v, err := r.Attach(ctx, admin, hitchpost.AttachRequest{Ref: s.Handle, Terminal: hitchpost.Terminal{Size: hitchpost.Size{Cols: 80, Rows: 24}}})
	must(t, err)
	got := make(chan string, 1)
	go func() {
		var all strings.Builder
		buf := make([]byte, 4096)
		for {
			n, err := v.Read(buf)
			all.Write(buf[:n])
			if err != nil {
				got <- all.String()
				return
			}
		}
	}()
	_, err = v.Write([]byte("go\n"))
	must(t, err)
	end := v.End()
	if end.Reason != hitchpost.EndExited || end.Exit == nil || end.Exit.Code == nil || *end.Exit.Code != 6 {
		t.Errorf("end %+v", end)
	}
	if text := <-got; !strings.Contains(text, "the very end") {
		t.Errorf("the last output is missing from %q", text)
	}
}

func TestScreenOfALostSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ctx := context.Background()
	s := r.start("job", "sh", "-c", "seq -f 'number %g' 1 40; read x")
	kept := filepath.Join(r.dir, "sessions", s.ID, "screen.gz")
	eventually(t, func() bool { _, err := os.Stat(kept); return err == nil }, func() string { return "nothing kept" })
	r.killTmux()
	r.becomes(s.ID, hitchpost.Recoverable)
	got, err := r.Capture(ctx, admin, s.ID, hitchpost.CaptureRequest{History: true})
	must(t, err)
	if !strings.HasPrefix(string(got.Text), "number 1\n") || !strings.Contains(string(got.Text), "number 40") {
		t.Errorf("kept %q", got.Text)
	}
	if got.At.IsZero() || time.Since(got.At) > time.Minute {
		t.Errorf("kept at %v", got.At)
	}
	_, err = r.Restart(ctx, admin, s.ID, hitchpost.RestartRequest{})
	must(t, err)
	eventually(t, func() bool {
		text, err := r.captured(admin, s.ID, hitchpost.CaptureRequest{})
		return err == nil && strings.Contains(string(text), "number 40")
	}, func() string { return "the fresh process does not print" })
	v, err := r.Attach(ctx, admin, hitchpost.AttachRequest{Ref: s.ID, Terminal: hitchpost.Terminal{Size: hitchpost.Size{Cols: 80, Rows: 24}}})
	must(t, err)
	defer v.Close(hitchpost.EndDetached, "")
	var all strings.Builder
	buf := make([]byte, 4096)
	for strings.Count(all.String(), "number 40") < 2 {
		n, err := v.Read(buf)
		all.Write(buf[:n])
		must(t, err)
	}
	old, fresh, marked := strings.Cut(all.String(), "before the restart")
	if !marked || !strings.Contains(old, "number 1\r\n") || !strings.Contains(fresh, "number 1\r\n") {
		t.Errorf("replay %q", all.String())
	}
}

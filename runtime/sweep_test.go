package runtime_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// TestLeftoversAreSwept puts down what a killed service and killed wrappers leave, and starts again: it is gone, and what
// belongs to a run that goes on is not.
func TestLeftoversAreSwept(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	ended, live := r.start("ended", "sh", "-c", "read x"), r.start("live", "cat")
	_, err := r.Stop(context.Background(), admin, ended.ID, hitchpost.StopRequest{})
	must(t, err)
	r.down()
	in := func(names ...string) string { return filepath.Join(append([]string{r.dir}, names...)...) }
	old := time.Now().Add(-time.Hour)
	gone := []string{
		in("sessions", live.ID, ".screen.gz.1"), in("sessions", live.ID, ".run-1.json.2"), in("sessions", "begun", ".env.json.3"),
		in("sessions", "begun"), in("exits", "."+live.ID+"-1.json.place.4"), in("exits", ended.ID+"-0.json.open"),
		in("exits", ended.ID+"-0.json.place"), in("sessions", ended.ID, "run-0.json"),
	}
	stays := []string{
		in("sessions", live.ID, "run-0.json"), in("exits", live.ID+"-0.json.open"), in("exits", "."+live.ID+"-0.json.5"),
		in("exits", "foreign.json"), in("exits", "unknown-0.json.open"),
	}
	must(t, os.Mkdir(in("sessions", "begun"), 0o700))
	for _, path := range append(gone, stays...) {
		if _, err := os.Stat(path); err != nil {
			must(t, os.WriteFile(path, []byte("{}"), 0o600))
		}
		must(t, os.Chtimes(path, old, old))
	}
	r.up()
	for _, path := range gone {
		eventually(t, func() bool { _, err := os.Lstat(path); return os.IsNotExist(err) }, func() string { return path })
	}
	for _, path := range stays {
		if _, err := os.Lstat(path); err != nil {
			t.Error(err)
		}
	}
	r.becomes(live.ID, hitchpost.Detached)
}

package hitchpost_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

// TestNextTaskWalksEveryPair compares the whole table, every state with every change, to the one written out here.
func TestNextTaskWalksEveryPair(t *testing.T) {
	t.Parallel()
	want := strings.Split(strings.TrimSpace(`
- task_started RUNNING
- task_found RUNNING
RUNNING task_not_started FAILED
RUNNING task_exited SUCCEEDED
RUNNING task_exited_badly FAILED
RUNNING task_cancelled CANCELLED
RUNNING task_lost LOST
`), "\n")
	var got []string
	for _, from := range append([]hitchpost.TaskState{""}, hitchpost.TaskStates()...) {
		for _, c := range hitchpost.TaskChanges() {
			to, ok := hitchpost.NextTask(from, c)
			if !ok {
				continue
			}
			name := string(from)
			if name == "" {
				name = "-"
			}
			got = append(got, fmt.Sprintf("%s %s %s", name, c, to))
			if from.Ended() {
				t.Errorf("%s is final and %s leaves it", from, c)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("transitions (-want +got):\n%s", d)
	}
}

func TestTaskNames(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"", "nightly build", "日本 👩‍💻", "$(reboot) #(x)", strings.Repeat("é", 200)} {
		if err := hitchpost.CheckTaskName(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"two\nlines", "\x1b]0;x\a", "a\u202eb", "tab\there", strings.Repeat("x", 201), "\xff"} {
		if err := hitchpost.CheckTaskName(bad); hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestCalledIsShort holds that events and messages that name a task do not carry all of its words.
func TestCalledIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 1<<20)
	for _, c := range []struct {
		task hitchpost.Task
		want string
	}{
		{hitchpost.Task{Name: "nightly", Argv: []string{"make"}}, "nightly"},
		{hitchpost.Task{Argv: []string{"make", "", "test"}}, "make '' test"},
		{hitchpost.Task{Argv: []string{"sh", "-c", "make; echo $?"}}, "sh -c 'make; echo $?'"},
		{hitchpost.Task{Argv: []string{strings.Repeat("x", 120)}}, strings.Repeat("x", 120)},
		{hitchpost.Task{Argv: []string{strings.Repeat("x", 121)}}, strings.Repeat("x", 120) + "…"},
		{hitchpost.Task{Argv: []string{"a", long, long}}, "a " + long[:2*59] + "…"},
		{hitchpost.Task{Argv: []string{"ab", "é" + long}}, "ab " + long[:2*58] + "…"},
	} {
		if got := c.task.Called(); got != c.want {
			t.Errorf("%.20q… is called %q, want %q", c.task.Argv, got, c.want)
		}
	}
}

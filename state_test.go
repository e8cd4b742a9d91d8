package hitchpost_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
)

// TestNextWalksEveryPair compares the whole table, every state with every change, to the one written out here.
func TestNextWalksEveryPair(t *testing.T) {
	t.Parallel()
	want := strings.Split(strings.TrimSpace(`
- created STARTING
- found DETACHED
STARTING started DETACHED
STARTING start_failed FAILED
STARTING exited STOPPED
STARTING exited_badly FAILED
STARTING lost FAILED
STARTING found DETACHED
RUNNING detached DETACHED
RUNNING waiting WAITING_FOR_INPUT
RUNNING stop_asked STOPPING
RUNNING exited STOPPED
RUNNING exited_badly FAILED
RUNNING lost RECOVERABLE
RUNNING found DETACHED
DETACHED attached RUNNING
DETACHED waiting WAITING_FOR_INPUT
DETACHED stop_asked STOPPING
DETACHED exited STOPPED
DETACHED exited_badly FAILED
DETACHED lost RECOVERABLE
DETACHED found DETACHED
WAITING_FOR_INPUT waiting WAITING_FOR_INPUT
WAITING_FOR_INPUT answered DETACHED
WAITING_FOR_INPUT stop_asked STOPPING
WAITING_FOR_INPUT exited STOPPED
WAITING_FOR_INPUT exited_badly FAILED
WAITING_FOR_INPUT lost RECOVERABLE
WAITING_FOR_INPUT found DETACHED
STOPPING exited STOPPED
STOPPING exited_badly STOPPED
STOPPING lost STOPPED
STOPPING found DETACHED
STOPPED found DETACHED
STOPPED restart_asked STARTING
STOPPED closed STOPPED
FAILED found DETACHED
FAILED restart_asked STARTING
FAILED closed FAILED
RECOVERABLE found DETACHED
RECOVERABLE restart_asked STARTING
RECOVERABLE closed STOPPED
`), "\n")
	var got []string
	for _, from := range append([]hitchpost.State{""}, hitchpost.States()...) {
		for _, c := range hitchpost.Changes() {
			if to, ok := hitchpost.Next(from, c); ok {
				name := string(from)
				if name == "" {
					name = "-"
				}
				got = append(got, fmt.Sprintf("%s %s %s", name, c, to))
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("transitions (-want +got):\n%s", d)
	}
}

func TestExitStatusOfKinds(t *testing.T) {
	t.Parallel()
	for kind, want := range map[hitchpost.ErrorKind]int{
		hitchpost.FailedError: 1, hitchpost.UsageError: 2, hitchpost.NotFoundError: 3, hitchpost.ConflictError: 4,
		hitchpost.DeniedError: 5, hitchpost.UnconfirmedError: 6, hitchpost.UnavailableError: 75,
		hitchpost.RevokedError: 77, hitchpost.TimeoutError: 124,
	} {
		if got := kind.ExitStatus(); got != want {
			t.Errorf("%s: exit status %d, want %d", kind, got, want)
		}
	}
	wrapped := fmt.Errorf("attach: %w", hitchpost.Errorf(hitchpost.ConflictError, "no"))
	if got := hitchpost.KindOf(wrapped); got != hitchpost.ConflictError {
		t.Errorf("kind of a wrapped error: %s", got)
	}
}

func TestRolesMay(t *testing.T) {
	t.Parallel()
	want := map[hitchpost.Role][]hitchpost.Permission{
		hitchpost.Admin:    {hitchpost.Look, hitchpost.Drive, hitchpost.Administer},
		hitchpost.Operator: {hitchpost.Look, hitchpost.Drive},
		hitchpost.Viewer:   {hitchpost.Look},
		"":                 nil,
		"root":             nil,
	}
	for role, may := range want {
		a := hitchpost.Actor{Role: role}
		for _, p := range []hitchpost.Permission{hitchpost.Look, hitchpost.Drive, hitchpost.Administer} {
			if got := a.Require(p) == nil; got != slices.Contains(may, p) {
				t.Errorf("role %q, permission %s: %v", role, p, got)
			}
		}
	}
}

func TestSizeClamp(t *testing.T) {
	t.Parallel()
	for in, want := range map[hitchpost.Size]hitchpost.Size{
		{0, 0}:         {80, 24},
		{0, 50}:        {80, 24},
		{-1, 24}:       {80, 24},
		{1, 1}:         {hitchpost.MinCols, hitchpost.MinRows},
		{65535, 65535}: {hitchpost.MaxCols, hitchpost.MaxRows},
		{160, 45}:      {160, 45},
	} {
		if got := in.Clamp(); got != want {
			t.Errorf("%v clamps to %v, want %v", in, got, want)
		}
	}
}

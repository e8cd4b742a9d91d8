//go:build realclaude

package claudetest_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/hitchpost/hitchpost/runtime/claude/claudetest"
)

// One turn without a terminal: the home asks nothing and the fake of the API is all that is needed.
func TestRealClaudePrints(t *testing.T) {
	t.Parallel()
	for _, version := range claudetest.Versions() {
		api, home := claudetest.NewAPI(t), claudetest.NewHome(t)
		cmd := exec.Command(claudetest.Real(t, version), "-p", "@say hello")
		cmd.Env, cmd.Dir = home.Environment(api.URL()), home.Project
		if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "hello" {
			t.Errorf("%s: %v\n%s", version, err, out)
		}
		if asked := api.Asked(t, "@say hello"); asked.Session == "" {
			t.Errorf("%s: no id in %+v", version, asked)
		}
	}
}

func oldest() dialect { return dialect{"resume", "permission prompt", "3"} }

func TestRealClaudeKeepsTheAccount(t *testing.T) {
	t.Parallel()
	for i, version := range claudetest.Versions() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			account(t, claudetest.Real(t, version), claudetest.NewAPI(t).URL(), []dialect{oldest(), newest()}[i])
		})
	}
}

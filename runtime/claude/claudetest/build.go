package claudetest

import (
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build makes the stand-in for Claude Code in dir and returns the path of the program, which is called claude. What it
// does is told by the doc of command fakeclaude. A test binary builds it once.
func Build(dir string) (program string, err error) {
	program = filepath.Join(dir, "claude")
	const source = "github.com/hitchpost/hitchpost/runtime/claude/claudetest/fakeclaude"
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the stand-in for Claude Code: %w\n%s", err, out)
	}
	return program, nil
}

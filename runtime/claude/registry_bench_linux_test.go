package claude_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost/runtime/claude"
)

// BenchmarkReadRegistry is one look at a register of 200 living processes.
func BenchmarkReadRegistry(b *testing.B) {
	config := b.TempDir()
	must(b, os.Mkdir(claude.RegistryDir(config), 0o700))
	for range 200 {
		cmd := exec.Command("sleep", "1000")
		must(b, cmd.Start())
		b.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		pid := cmd.Process.Pid
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		must(b, err)
		began := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))[19]
		text := fmt.Sprintf(`{"pid":%d,"sessionId":%q,"cwd":"/p","startedAt":%d,"procStart":%q,"version":"2.1.332",`+
			`"kind":"interactive","entrypoint":"cli","status":"idle","updatedAt":1800000000123,"statusUpdatedAt":1800000000123}`,
			pid, conversation, time.Now().UnixMilli(), began)
		must(b, os.WriteFile(filepath.Join(claude.RegistryDir(config), strconv.Itoa(pid)+".json"), []byte(text), 0o600))
	}
	for b.Loop() {
		if entries, err := claude.ReadRegistry(config); err != nil || len(entries) != 200 {
			b.Fatalf("%d, %v", len(entries), err)
		}
	}
}

package runtime

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/runtime/durable"
)

// checkEnv refuses what cannot stand in an environment; POSIX.1-2024, 8.1.
func checkEnv(env []string) error {
	name := regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	for _, kv := range env {
		n, value, ok := strings.Cut(kv, "=")
		if !ok || !name.MatchString(n) || strings.ContainsRune(value, 0) {
			return hitchpost.Errorf(hitchpost.UsageError, "%q cannot stand in an environment", kv).For("env").
				Hinted("write it like NAME=value, with letters, digits and _ in the name")
		}
	}
	return nil
}

// writeEnv keeps what was asked for beside every session's environment, for a Restart, where only the account reads it.
func writeEnv(path string, env []string) error {
	raw, err := json.Marshal(env)
	if err != nil {
		return err
	}
	return durable.Replace(path, raw)
}

func readEnv(path string) ([]string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var env []string
	if err == nil {
		err = json.Unmarshal(raw, &env)
	}
	if err != nil {
		return nil, fmt.Errorf("read the environment of a session: %w", err)
	}
	return env, nil
}

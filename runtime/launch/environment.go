package launch

import (
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
)

// Mark is the variable that holds the session's id in the environment of every process of a session. It is how what has
// left the terminal is known to be the session's still; a program that cleans its environment takes the mark off what it
// starts, which is then a stranger to the session.
const Mark = "HITCHPOST_SESSION"

// TaskMark is the variable that holds the task's id in the environment of every process of a task. One that belongs to a
// session carries Mark as well.
const TaskMark = "HITCHPOST_TASK"

// Environment is a fresh environment for a session's program, sorted, each name once. Nothing comes from the service's
// own environment but PATH, a UTF-8 locale, TZ and XDG_RUNTIME_DIR, which base looks up (os.Getenv). extra (K=V) comes
// last and wins, but the marks are not its to set: with the one of a task, what a session leaves behind would pass for a
// task's. What is not K=V is left out. TERM is a stand-in until the wrapper sees the terminal.
func Environment(base func(string) string, home, user, shell, session string, extra []string) []string {
	env := map[string]string{
		"HOME":      home,
		"USER":      user,
		"LOGNAME":   user,
		"SHELL":     shell,
		"PATH":      searchPath(base("PATH"), home),
		"LANG":      locale(base),
		"TERM":      "tmux-256color",
		"COLORTERM": "truecolor",
	}
	for _, name := range []string{"TZ", "XDG_RUNTIME_DIR"} {
		if v := base(name); v != "" {
			env[name] = v
		}
	}
	for _, kv := range extra {
		name, value, ok := strings.Cut(kv, "=")
		if ok && name != "" && name != TaskMark && !strings.Contains(kv, "\x00") {
			env[name] = value
		}
	}
	env[Mark] = session
	out := make([]string, 0, len(env))
	for name, value := range env {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out
}

// searchPath is the service's PATH and, behind it, the places where programs usually are: a service manager's PATH
// often lacks some. Relative elements would make a program's meaning depend on the directory and are dropped.
func searchPath(base, home string) string {
	usual := []string{"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"}
	if goruntime.GOOS == "darwin" {
		usual = append([]string{"/opt/homebrew/bin"}, usual...)
	}
	if home != "" {
		usual = append(usual, filepath.Join(home, ".local/bin"))
	}
	var out []string
	for _, dir := range append(filepath.SplitList(base), usual...) {
		if filepath.IsAbs(dir) && !slices.Contains(out, dir) {
			out = append(out, dir)
		}
	}
	return strings.Join(out, string(filepath.ListSeparator))
}

// locale is the locale that the service's environment asks for (locale(7): LC_ALL before LC_CTYPE before LANG) if it
// is a UTF-8 one, else one that every machine has: tmux and the programs in it would draw anything else wrongly.
func locale(base func(string) string) string {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		v := base(name)
		if v == "" {
			continue
		}
		if charset := strings.ToLower(v); strings.Contains(charset, "utf-8") || strings.Contains(charset, "utf8") {
			return v
		}
		break
	}
	if goruntime.GOOS == "darwin" {
		return "en_US.UTF-8"
	}
	return "C.UTF-8"
}

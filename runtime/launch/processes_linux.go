package launch

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// processes lists the machine's processes from /proc/PID/stat (proc(5)). One that ends during the look is left out.
func processes() ([]process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	dir.Close()
	if err != nil {
		return nil, err
	}
	var all []process
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			stat, err := os.ReadFile(filepath.Join("/proc", name, "stat"))
			if err != nil {
				continue
			}
			if p, err := parseStat(pid, stat); err == nil {
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// parseStat reads the fields behind the name, which stands in parentheses and may hold any byte, parentheses too.
func parseStat(pid int, stat []byte) (process, error) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 6 {
		return process{}, fmt.Errorf("/proc/%d/stat is short", pid)
	}
	p := process{pid: pid, ended: fields[0][0] == 'Z' || fields[0][0] == 'X'}
	for i, to := range map[int]*int{1: &p.parent, 2: &p.group, 3: &p.session, 5: &p.foreground} {
		n, err := strconv.Atoi(string(fields[i]))
		if err != nil {
			return process{}, fmt.Errorf("/proc/%d/stat: %w", pid, err)
		}
		*to = n
	}
	return p, nil
}

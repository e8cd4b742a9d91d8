package task

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A log is a row of files, each a piece of the output without holes. The name of a piece tells where in the output it
// begins: `log` at its start, `log.N` at its byte N. What no piece holds was left out, and so a reader knows at any
// moment, also after a kill, what is missing and where, from names and sizes alone. A piece that has a later one beside
// it does not grow any more.

// segment is a piece of the output on disk.
type segment struct{ start, size int64 }

func (s segment) end() int64 { return s.start + s.size }

// segmentName is the name of the piece that begins at byte start.
func segmentName(start int64) string {
	if start == 0 {
		return logName
	}
	return fmt.Sprintf("%s.%019d", logName, start)
}

// starts lists where the pieces in folder begin, in order.
func starts(folder string) ([]int64, error) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	names, err := dir.Readdirnames(-1)
	if err = errors.Join(err, dir.Close()); err != nil {
		return nil, err
	}
	var all []int64
	for _, name := range names {
		if name == logName {
			all = append(all, 0)
		}
		if digits, ok := strings.CutPrefix(name, logName+"."); ok {
			if n, err := strconv.ParseInt(digits, 10, 64); err == nil && n > 0 && segmentName(n) == name {
				all = append(all, n)
			}
		}
	}
	slices.Sort(all)
	return all, nil
}

// segments lists the pieces in folder with their sizes, in order. One that is removed meanwhile is left out.
func segments(folder string) ([]segment, error) {
	all, err := starts(folder)
	if err != nil {
		return nil, err
	}
	var list []segment
	for _, start := range all {
		info, err := os.Stat(in(folder, segmentName(start)))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, segment{start, info.Size()})
	}
	return list, nil
}

// written is how much the command has written so far, as far as the log tells: what was left out at the end is not in
// it.
func written(folder string) (int64, error) {
	list, err := segments(folder)
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return list[len(list)-1].end(), nil
}

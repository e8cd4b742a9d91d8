package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of `go test -json`; see `go doc test2json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// report turns events into what plain `go test` prints: one line for a package that passed, and for one that failed
// the output of its failed tests too. It counts on the way.
type report struct {
	out                     io.Writer
	output                  map[string]map[string][]string // by package, then by test; "" is the package itself
	passed, failed, skipped int
	skips                   []string
}

// read takes events until the stream ends.
func (r *report) read(events io.Reader) error {
	r.output = map[string]map[string][]string{}
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				e = event{Action: "build-output", Output: string(line)} // go's own words
			}
			r.take(e)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the events of go test: %w", err)
		}
	}
}

func (r *report) take(e event) {
	tests := r.output[e.Package]
	if tests == nil {
		tests = map[string][]string{}
		r.output[e.Package] = tests
	}
	switch {
	case e.Action == "build-output":
		r.print(e.Output)
	case e.Action == "output" && strings.HasPrefix(e.Output, "=== "): // RUN, PAUSE, CONT, NAME: for readers of -v
	case e.Action == "output":
		tests[e.Test] = append(tests[e.Test], e.Output)
	case e.Test != "":
		r.endTest(e, tests)
	case e.Action == "pass" || e.Action == "skip":
		r.endPackage(e.Package, verdict)
	case e.Action == "fail":
		r.endPackage(e.Package, everything)
	}
}

func (r *report) endTest(e event, tests map[string][]string) {
	switch e.Action {
	case "pass":
		r.passed++
	case "skip":
		r.skipped++
		r.skips = append(r.skips, e.Package+" "+e.Test)
	case "fail":
		r.failed++
		r.print(tests[e.Test]...)
	default:
		return
	}
	delete(tests, e.Test)
}

func verdict(line string) bool {
	return strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "? ")
}
func everything(string) bool        { return true }
func (r *report) well() bool        { return r.skipped == 0 && r.failed == 0 && r.passed > 0 }
func (r *report) print(l ...string) { _, _ = io.WriteString(r.out, strings.Join(l, "")) }

// endPackage prints what is left of a package's output: its own lines and, after a panic or a timeout, those of tests
// that never came to an end.
func (r *report) endPackage(name string, shown func(line string) bool) {
	tests := r.output[name]
	delete(r.output, name)
	own := tests[""]
	delete(tests, "")
	unfinished := make([]string, 0, len(tests))
	for test := range tests {
		unfinished = append(unfinished, test)
	}
	slices.Sort(unfinished)
	for _, test := range unfinished {
		r.print(slices.DeleteFunc(tests[test], func(l string) bool { return !shown(l) })...)
	}
	r.print(slices.DeleteFunc(own, func(l string) bool { return !shown(l) })...)
}

// close prints the sum, and why the run is not well where go test thinks it is.
func (r *report) close() {
	for _, s := range r.skips {
		r.print("FAIL: skipped: ", s, " (a test that cannot run here fails and says what to install)\n")
	}
	if r.passed+r.failed+r.skipped == 0 {
		r.print("FAIL: no test ran\n")
	}
	r.print(fmt.Sprintf("tests: %d passed, %d failed, %d skipped\n", r.passed, r.failed, r.skipped))
}

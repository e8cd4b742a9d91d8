// Command gotest runs `go test` with the arguments it is given and shows what `go test` shows. It fails also where
// `go test` does not: on a skipped test, on a run without any test, and on a process that the tests left behind.
// It belongs to the Makefile; nothing imports it.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	// Servers may take a while to end once the tests are over.
	os.Exit(run(os.Args[1:], 10*time.Second, os.Stdout, os.Stderr))
}

// run is main with its streams; goneWithin is how long processes may outlive go test. It must not run twice at a
// time: it waits for every child of this process.
func run(args []string, goneWithin time.Duration, stdout io.Writer, stderr *os.File) int {
	// Ctrl-C reaches go test too, which is in the same process group; the report of its end is still wanted.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT)

	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = stderr // a file, so that no goroutine has to copy and be waited for
	events, err := cmd.StdoutPipe()
	if err != nil {
		return failed(stderr, err)
	}
	f, err := startFamily(cmd)
	if err != nil {
		return failed(stderr, err)
	}
	r := report{out: stdout}
	readErr := r.read(events)
	status := f.status()
	if readErr != nil {
		return failed(stderr, readErr)
	}

	r.close()
	if status == 0 && !r.well() {
		status = 1
	}
	for _, left := range f.leftovers(goneWithin) {
		_, _ = fmt.Fprintf(stdout, "FAIL: left behind by the tests, and killed now: %s\n", left)
		status = 1
	}
	return status
}

func failed(stderr io.Writer, err error) int {
	_, _ = fmt.Fprintln(stderr, "gotest:", err)
	return 2
}

package tmux

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

// TestMain lets the test binary be the program in a pane: "print KIND COUNT PER-SECOND" writes numbered lines; and
// another service: "serve DIR" opens the server and a view and waits to be killed.
func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == "print" {
		printLines(os.Args[2], number(os.Args[3]), number(os.Args[4]))
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "serve" {
		serveUntilKilled(os.Args[2])
	}
	os.Exit(m.Run())
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}

// printer is the command of a pane that prints count lines (0: for ever), perSecond (0: as fast as it can), and waits.
func printer(kind string, count, perSecond int) []string {
	return []string{os.Args[0], "print", kind, strconv.Itoa(count), strconv.Itoa(perSecond)}
}

func printLines(kind string, count, perSecond int) {
	out := bufio.NewWriterSize(os.Stdout, 4096)
	const step = 20 * time.Millisecond
	tick := time.NewTicker(step)
	for n := 1; count == 0 || n <= count; n++ {
		fmt.Fprintf(out, "%s\r\n", styledLine(kind, n))
		if perSecond > 0 && n%max(perSecond/50, 1) == 0 {
			out.Flush()
			<-tick.C
		}
	}
	out.Flush()
	<-time.After(time.Hour) // without cgo the runtime takes an empty select for a deadlock
}

// plainLine is the text of line n. It holds no blank, so that the rows of a screen can be put together again.
func plainLine(kind string, n int) string {
	head := fmt.Sprintf("<%d>", n)
	switch kind {
	case "short":
		return head
	case "mixed":
		switch n % 5 {
		case 0:
			return head + strings.Repeat("日本語🙂é", 5+n%17)
		case 1:
			return head + strings.Repeat("wrapped_", 10+n%25)
		case 2, 3:
			return head + "coloured_text_of_some_length"
		}
		return head
	default:
		return head + strings.Repeat("x", 44)
	}
}

// styledLine is line n as it is printed.
func styledLine(kind string, n int) string {
	text := plainLine(kind, n)
	if kind != "mixed" {
		return text
	}
	switch n % 5 {
	case 1: // the colour goes on into the next line
		return "\x1b[1;44m" + text
	case 2:
		return "\x1b[0;38;2;1;2;3;4:3m" + text + "\x1b[m"
	case 3:
		return "\x1b[38;5;200;7m" + text + "\x1b[0m"
	}
	return text
}

func serveUntilKilled(dir string) {
	s, err := Open(context.Background(), Config{Dir: dir})
	if err != nil {
		panic(err)
	}
	if _, err := s.Start(context.Background(), Start{Session: "made", Command: []string{"sleep", "1000000"}}); err != nil {
		panic(err)
	}
	v, err := s.Attach(context.Background(), Attach{Session: "made", Terminal: hitchpost.Terminal{Size: sizes[0]}})
	if err != nil {
		panic(err)
	}
	fmt.Println("ready")
	for buf := make([]byte, 4096); ; {
		if _, err := v.Read(buf); err != nil {
			panic(err)
		}
	}
}

package tmux

import (
	"bufio"
	goruntime "runtime"
	"strings"
	"testing"
)

// TestAnswersOutliveTheirReader looks at answers when the stack of the goroutine that read them has gone: one that had
// been copied from it pointed there still, and the next collection ended the process.
func TestAnswersOutliveTheirReader(t *testing.T) {
	t.Parallel()
	const block = "%begin 1 1 1\nfirst\n%end 1 1 1\n%begin 2 2 1\nmark-1\n%end 2 2 1\n"
	kept := make(chan *reply, 1000)
	for range cap(kept) {
		read := make(chan struct{})
		go func() {
			defer close(read)
			onADeepStack(1000, func() {
				p := replies{
					r:      bufio.NewReader(strings.NewReader(block)),
					isMark: func(s string) bool { return strings.HasPrefix(s, "mark-") },
					done:   func(r *reply) { kept <- r },
				}
				_ = p.run()
			})
		}()
		<-read
	}
	close(kept)
	for range 3 {
		goruntime.GC()
	}
	for r := range kept {
		if r.text.String() != "first\n" {
			t.Fatalf("%q", r.text.String())
		}
	}
}

func onADeepStack(frames int, f func()) byte {
	var weight [256]byte
	if frames == 0 {
		f()
		return weight[0]
	}
	return onADeepStack(frames-1, f) + weight[frames%len(weight)]
}

package launch_test

import (
	"fmt"
	"testing"
)

// What still reads the terminal when the program ends takes the answer that the wrapper waits for, at times between the
// wrapper's look whether there is one and its read. The end is recorded all the same.
func TestAnswerTakenBySomebodyElse(t *testing.T) {
	t.Parallel()
	for i := range 10 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			s := spec(t, "sh", "-c", "exec 3<&0; for i in 1 2 3 4; do cat <&3 >/dev/null & done; exit 3")
			begin(t, s).endsWith(3, "")
		})
	}
}

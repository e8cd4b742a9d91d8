package main

import (
	"fmt"
	"time"
)

// reconnectingLine tells what connect waits for, the important first: a narrow terminal shows only the beginning.
func reconnectingLine(since, now moment, why string) string {
	line := fmt.Sprintf("hitchpost: reconnecting for %s, lost at %s: Ctrl-C ends it",
		passed(since, now).Truncate(time.Second), since.wall.Format("15:04:05"))
	if why != "" {
		line += " (" + why + ")"
	}
	return line
}

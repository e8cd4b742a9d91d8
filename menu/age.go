package menu

import (
	"strconv"
	"time"
)

// age is how long ago t was, in one short word: minutes, hours, then days. Under a minute it does not count seconds,
// so that a list at rest does not flicker. A clock that stepped back gives no negative age.
func age(t, now time.Time) string {
	if t.IsZero() {
		return wordNone
	}
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return wordNow
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	default:
		return strconv.Itoa(min(int(d/(24*time.Hour)), 999)) + "d"
	}
}

// ageWidth is the widest that age gets.
const ageWidth = 4

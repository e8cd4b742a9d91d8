package hitchpost

import (
	"math"
	"strings"
	"time"
)

// ParseDuration reads a duration as people write it, such as 90s, 10m, 12h or 90d, and sums such as 1h30m. Whole
// numbers only, in ms, s, m, h and d, where a day has 24 hours; it is never negative. The error is a UsageError.
func ParseDuration(text string) (time.Duration, error) {
	bad := Errorf(UsageError, "%q is no duration", text).Hinted("durations are like 90s, 10m, 12h or 90d")
	var sum time.Duration
	for rest := text; rest != "" || text == ""; {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if digits == 0 || digits > 12 {
			return 0, bad
		}
		number := int64(0)
		for _, c := range rest[:digits] {
			number = number*10 + int64(c-'0')
		}
		unit, length := durationUnit(rest[digits:])
		if unit == 0 || number > (math.MaxInt64-int64(sum))/int64(unit) {
			return 0, bad
		}
		sum += time.Duration(number) * unit
		rest = rest[digits+length:]
	}
	return sum, nil
}

// durationUnit is the unit that text begins with, and how many bytes name it; 0 for none.
func durationUnit(text string) (unit time.Duration, length int) {
	switch {
	case strings.HasPrefix(text, "ms"):
		return time.Millisecond, 2
	case strings.HasPrefix(text, "s"):
		return time.Second, 1
	case strings.HasPrefix(text, "m"):
		return time.Minute, 1
	case strings.HasPrefix(text, "h"):
		return time.Hour, 1
	case strings.HasPrefix(text, "d"):
		return 24 * time.Hour, 1
	}
	return 0, 0
}

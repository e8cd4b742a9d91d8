package command

import (
	"math"
	"time"

	"github.com/hitchpost/hitchpost"
)

// duration is a flag like 90s, 10m, 12h or 90d, and sums such as 1h30m. It is never negative.
type duration time.Duration

func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

func (d *duration) Type() string { return "D" }

func (d *duration) Set(text string) error {
	v, err := parseDuration(text)
	*d = duration(v)
	return err
}

func parseDuration(text string) (time.Duration, error) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}
	bad := hitchpost.Errorf(hitchpost.UsageError, "durations are like 90s, 10m, 12h or 90d")
	var sum time.Duration
	number, digits := int64(0), 0
	for i := range len(text) {
		ch := text[i]
		if '0' <= ch && ch <= '9' {
			if number, digits = number*10+int64(ch-'0'), digits+1; digits > 12 {
				return 0, bad
			}
			continue
		}
		unit, ok := units[ch]
		if !ok || digits == 0 || number > (math.MaxInt64-int64(sum))/int64(unit) {
			return 0, bad
		}
		sum += time.Duration(number) * unit
		number, digits = 0, 0
	}
	if text == "" || digits > 0 {
		return 0, bad
	}
	return sum, nil
}

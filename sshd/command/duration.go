package command

import (
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
	v, err := hitchpost.ParseDuration(text)
	*d = duration(v)
	return err
}

package command

import (
	"time"

	"github.com/spf13/cobra"

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

// given is the value of that flag for requests in which zero stands for none: never zero where one was given.
func (d *duration) given(cmd *cobra.Command, flag string) time.Duration {
	if cmd.Flags().Changed(flag) {
		return max(time.Duration(*d), time.Nanosecond)
	}
	return time.Duration(*d)
}

func (d *duration) Set(text string) error {
	v, err := hitchpost.ParseDuration(text)
	*d = duration(v)
	return err
}

package hitchpost_test

import (
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"0s": 0, "90s": 90 * time.Second, "10m": 10 * time.Minute, "12h": 12 * time.Hour, "90d": 90 * 24 * time.Hour,
		"1h30m": 90 * time.Minute, "250ms": 250 * time.Millisecond, "1m500ms": time.Minute + 500*time.Millisecond,
		"106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := hitchpost.ParseDuration(text); got != want || err != nil {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", " ", "10", "s", "-5s", "+5s", "1.5h", "5 s", "5S", "5us", "5w", "5s3", "106752d", "106751d24h", "9999999999999s",
		"999999999999d", "１s", "5m s",
	} {
		got, err := hitchpost.ParseDuration(text)
		if got != 0 || hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
}

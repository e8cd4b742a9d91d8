//go:build !linux

package host_test

func systemVerbs() map[string]func() error { return nil }

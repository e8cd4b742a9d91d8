package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	add := func(id, title string) hitchpost.Session {
		s := b.fresh(title)
		s.ID = id
		made, err := b.Create(t.Context(), s, time.Minute, store.By{})
		if err != nil {
			t.Fatal(err)
		}
		return b.change(t, made.ID, hitchpost.ChangeStarted)
	}
	one := add("0190aaaa-0000-7000-8000-000000000001", "one")
	two := add("0190aaaa-0000-7000-8000-000000000012", "two")
	old := add("0190bbbb-0000-7000-8000-000000000003", "old")
	b.change(t, old.ID, hitchpost.ChangeLost)
	b.change(t, old.ID, hitchpost.ChangeClosed)
	for ref, want := range map[string]string{
		"one": one.ID, "two": two.ID, one.ID: one.ID, old.ID: old.ID,
		"0190aaaa-0000-7000-8000-00000000000": one.ID,
		"0190b":                               old.ID,
		"0190bbbb-":                           old.ID,
	} {
		if got, err := b.Resolve(t.Context(), ref, ""); err != nil || got.ID != want {
			t.Errorf("%q: %s, %v; want %s", ref, got.ID, err, want)
		}
	}
	for ref, kind := range map[string]hitchpost.ErrorKind{
		"":                    hitchpost.UsageError,
		"0190":                hitchpost.UsageError, // all three
		"0190aaaa":            hitchpost.UsageError,
		"019":                 hitchpost.NotFoundError, // too short
		"on":                  hitchpost.NotFoundError, // no prefix of handles
		"ONE":                 hitchpost.NotFoundError,
		"old":                 hitchpost.NotFoundError, // closed
		"0190aaaa0000":        hitchpost.NotFoundError, // not how an id begins
		"0190%":               hitchpost.NotFoundError,
		"0190____":            hitchpost.NotFoundError,
		one.ID + "0":          hitchpost.NotFoundError,
		"' or true --":        hitchpost.NotFoundError,
		"\x1b[31m\xff\x00":    hitchpost.NotFoundError,
		"ffff":                hitchpost.NotFoundError,
		"last":                hitchpost.NotFoundError, // no key
		"------------":        hitchpost.NotFoundError,
		strings.ToUpper("aa"): hitchpost.NotFoundError,
	} {
		_, err := b.Resolve(t.Context(), ref, "")
		if hitchpost.KindOf(err) != kind {
			t.Errorf("%q: %v (%s), want %s", ref, err, hitchpost.KindOf(err), kind)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\x1b\n\x00") {
			t.Errorf("%q: the error passes on what was typed: %q", ref, err)
		}
	}
	_, err := b.Resolve(t.Context(), "0190aaaa", "")
	if !strings.Contains(err.Error(), one.ID) || !strings.Contains(err.Error(), two.ID) || strings.Contains(err.Error(), old.ID) {
		t.Errorf("the candidates are not named: %v", err)
	}
}

// last is the session that the key attached to last; another key has its own.
func TestResolveLast(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	bob := b.addKey(t, "bob", hitchpost.Viewer)
	_, err := b.Resolve(t.Context(), "last", b.key.Fingerprint)
	wantKind(t, err, hitchpost.NotFoundError)
	one, two := b.live(t, "one"), b.live(t, "two")
	b.attach(t, one.ID)
	b.attach(t, two.ID)
	if got, err := b.Resolve(t.Context(), "last", b.key.Fingerprint); err != nil || got.ID != two.ID {
		t.Errorf("%s, %v", got.Handle, err)
	}
	_, err = b.Resolve(t.Context(), "last", bob.Fingerprint)
	wantKind(t, err, hitchpost.NotFoundError)
	keys, err := b.Keys(t.Context())
	if err != nil || len(keys) != 2 || keys[0].LastSession != two.ID || keys[1].LastSession != "" {
		t.Errorf("%+v, %v", keys, err)
	}
}

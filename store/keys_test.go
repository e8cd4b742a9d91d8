package store_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	by := store.By{Actor: "ann", Fingerprint: b.key.Fingerprint}
	k := hitchpost.Key{Fingerprint: "SHA256:abc", AuthorizedKey: "ssh-ed25519 AAAA", Type: "ssh-ed25519",
		Comment: "bob's '; key\x00", Actor: "bob", Role: hitchpost.Viewer, TouchOptional: true,
		ExpiresAt: time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)}
	added, err := b.AddKey(t.Context(), k, by)
	want := k
	want.Comment, want.CreatedAt = "bob's '; key\uFFFD", added.CreatedAt
	if diff := cmp.Diff(want, added); err != nil || diff != "" {
		t.Errorf("%v, want -, got +:\n%s", err, diff)
	}
	_, err = b.AddKey(t.Context(), k, by)
	wantKind(t, err, hitchpost.ConflictError)
	same := k
	same.Fingerprint = "SHA256:other"
	_, err = b.AddKey(t.Context(), same, by)
	wantKind(t, err, hitchpost.ConflictError)

	used := time.Now().UTC().Truncate(time.Microsecond)
	for _, at := range []time.Time{used, used.Add(-time.Hour)} {
		if err := b.KeyUsed(t.Context(), k.Fingerprint, at); err != nil {
			t.Fatal(err)
		}
	}
	wantKind(t, b.KeyUsed(t.Context(), "SHA256:nobody", used), hitchpost.NotFoundError)

	revoked, err := b.RevokeKey(t.Context(), k.Fingerprint, by)
	if err != nil || revoked.RevokedAt.IsZero() || !revoked.LastUsedAt.Equal(used) {
		t.Errorf("%+v, %v", revoked, err)
	}
	if again, err := b.RevokeKey(t.Context(), k.Fingerprint, by); err != nil || !again.RevokedAt.Equal(revoked.RevokedAt) {
		t.Errorf("%+v, %v", again, err)
	}
	_, err = b.RevokeKey(t.Context(), "SHA256:\x1b\xff\x00", by)
	wantKind(t, err, hitchpost.NotFoundError)

	// Added again, it is good again, as what it is added as.
	k.Role, k.ExpiresAt = hitchpost.Operator, time.Now().Add(-time.Hour)
	if back, err := b.AddKey(t.Context(), k, by); err != nil || !back.RevokedAt.IsZero() || back.Role != hitchpost.Operator {
		t.Errorf("%+v, %v", back, err)
	}
	k.ExpiresAt = time.Time{} // it had expired
	if back, err := b.AddKey(t.Context(), k, by); err != nil || !back.ExpiresAt.IsZero() {
		t.Errorf("%+v, %v", back, err)
	}
	// Nobody may do more because it was left out what they may do.
	if _, err := b.RevokeKey(t.Context(), k.Fingerprint, by); err != nil {
		t.Fatal(err)
	}
	k.Role = hitchpost.Viewer
	if _, err := b.AddKey(t.Context(), k, by); err != nil {
		t.Fatal(err)
	}
	if _, err := b.RevokeKey(t.Context(), k.Fingerprint, by); err != nil {
		t.Fatal(err)
	}
	k.Actor, k.Role = "", ""
	if back, err := b.AddKey(t.Context(), k, by); err != nil || back.Actor != "bob" || back.Role != hitchpost.Viewer {
		t.Errorf("%+v, %v", back, err)
	}
	k.Fingerprint, k.AuthorizedKey = "SHA256:new", "ssh-ed25519 BBBB"
	if fresh, err := b.AddKey(t.Context(), k, by); err != nil || fresh.Actor != "ann" || fresh.Role != hitchpost.Operator {
		t.Errorf("%+v, %v", fresh, err)
	}
	if got, want := b.kinds(t, ""), "key_added key_added key_revoked key_added key_added key_revoked key_added "+
		"key_revoked key_added key_added"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	if list, err := b.Keys(t.Context()); err != nil || len(list) != 3 || list[2].Fingerprint != k.Fingerprint {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestAddKeyRefuses(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	good := hitchpost.Key{Fingerprint: "SHA256:x", AuthorizedKey: "ssh-ed25519 AAAA", Type: "ssh-ed25519", Actor: "bob",
		Role: hitchpost.Viewer}
	for name, edit := range map[string]func(*hitchpost.Key){
		"no fingerprint": func(k *hitchpost.Key) { k.Fingerprint = "" },
		"two lines":      func(k *hitchpost.Key) { k.AuthorizedKey += "\nssh-rsa BBBB" },
		"no actor":       func(k *hitchpost.Key) { k.Actor = "" },
		"no such role":   func(k *hitchpost.Key) { k.Role = "owner" },
	} {
		k := good
		edit(&k)
		_, err := b.AddKey(t.Context(), k, store.By{})
		if hitchpost.KindOf(err) != hitchpost.UsageError {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNodes(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	// Two machines of one name, each of which keeps its own over restarts.
	id := newID()
	for range 2 {
		twin, err := b.Node(t.Context(), id, "here")
		if err != nil || twin.Name != "here-2" || twin.State != hitchpost.Online {
			t.Errorf("%+v, %v", twin, err)
		}
	}
	if renamed, err := b.Node(t.Context(), id, "there"); err != nil || renamed.Name != "there" {
		t.Errorf("%+v, %v", renamed, err)
	}
	set := func(state hitchpost.NodeState, reason string) hitchpost.Node {
		t.Helper()
		if err := b.SetNodeState(t.Context(), id, state, reason); err != nil {
			t.Fatal(err)
		}
		list, err := b.Nodes(t.Context())
		if err != nil || len(list) != 2 || list[1].ID != id {
			t.Fatalf("%+v, %v", list, err)
		}
		return list[1]
	}
	off := set(hitchpost.Offline, "tmux hangs\x00")
	if off.State != hitchpost.Offline || off.Reason != "tmux hangs\uFFFD" {
		t.Errorf("%+v", off)
	}
	if still := set(hitchpost.Offline, "tmux is gone"); !still.Since.Equal(off.Since) || still.Reason != "tmux is gone" {
		t.Errorf("%+v after %+v", still, off)
	}
	if on := set(hitchpost.Online, ""); !on.Since.After(off.Since) {
		t.Errorf("%+v after %+v", on, off)
	}
	set(hitchpost.Online, "")
	if got, want := b.kinds(t, ""), "key_added node_offline node_online"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	wantKind(t, b.SetNodeState(t.Context(), newID(), hitchpost.Online, ""), hitchpost.NotFoundError)
}

// Every key of an actor is revoked at once, and nobody else's.
func TestActorIsRevoked(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for _, k := range []hitchpost.Key{
		{Fingerprint: "SHA256:1", Actor: "mia"}, {Fingerprint: "SHA256:2", Actor: "mia"}, {Fingerprint: "SHA256:3", Actor: "kay"},
	} {
		k.Type, k.AuthorizedKey, k.Role = "ssh-ed25519", "ssh-ed25519 "+k.Fingerprint, hitchpost.Operator
		if _, err := b.AddKey(t.Context(), k, store.By{}); err != nil {
			t.Fatal(err)
		}
	}
	before, err := b.RevokeKey(t.Context(), "SHA256:1", store.By{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time there is nothing left to do
		got, err := b.RevokeActor(t.Context(), "mia", store.By{})
		if err != nil || len(got) != 2 || !got[0].RevokedAt.Equal(before.RevokedAt) || got[1].RevokedAt.IsZero() {
			t.Errorf("%+v, %v", got, err)
		}
	}
	all, err := b.Keys(t.Context())
	if err != nil || len(all) != 4 || !all[0].RevokedAt.IsZero() || !all[3].RevokedAt.IsZero() {
		t.Errorf("%+v, %v", all, err)
	}
	_, err = b.RevokeActor(t.Context(), "nobody\x00", store.By{})
	wantKind(t, err, hitchpost.NotFoundError)
	if got, want := b.kinds(t, ""), "key_added key_added key_added key_added key_revoked key_revoked"; got != want {
		t.Errorf("events %q, want %q", got, want)
	}
}

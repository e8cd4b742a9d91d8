package store_test

import (
	"testing"

	"github.com/hitchpost/hitchpost"
	"github.com/hitchpost/hitchpost/store"
)

// RUNNING and DETACHED follow from who is attached, and each coming and going is told once.
func TestAttachAndDetach(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "work")
	first, second := b.attach(t, s.ID), b.attach(t, s.ID)
	if now, err := b.Session(t.Context(), s.ID); err != nil || now.State != hitchpost.Running || now.Attached != 2 ||
		now.LastAttachedAt.IsZero() {
		t.Errorf("%+v, %v", now, err)
	}
	if left, err := b.Detach(t.Context(), first, "left"); err != nil || left.State != hitchpost.Running || left.Attached != 1 {
		t.Errorf("%+v, %v", left, err)
	}
	for range 2 { // the second time it changes nothing
		if left, err := b.Detach(t.Context(), second, "left"); err != nil || left.State != hitchpost.Detached || left.Attached != 0 {
			t.Errorf("%+v, %v", left, err)
		}
	}
	if got, want := b.kinds(t, s.ID), "created started attached joined parted detached"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	events := b.events(t, s.ID)
	if e := events[2]; e.Actor != "ann" || e.Source != hitchpost.FromPerson || e.From != hitchpost.Detached ||
		e.To != hitchpost.Running {
		t.Errorf("%+v", e)
	}
	_, err := b.Detach(t.Context(), newID(), "left")
	wantKind(t, err, hitchpost.NotFoundError)
	_, err = b.Detach(t.Context(), "x", "left")
	wantKind(t, err, hitchpost.NotFoundError)
}

// A session that waits for a person goes on waiting while one looks, and knows of the one who looks when it no longer
// waits.
func TestAttachToAWaitingSession(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.live(t, "asker")
	b.change(t, s.ID, hitchpost.ChangeWaits)
	id := b.attach(t, s.ID)
	if now, err := b.Session(t.Context(), s.ID); err != nil || now.State != hitchpost.WaitingForInput || now.Attached != 1 {
		t.Errorf("%+v, %v", now, err)
	}
	if now := b.change(t, s.ID, hitchpost.ChangeAnswered); now.State != hitchpost.Running {
		t.Errorf("state %s", now.State)
	}
	if _, err := b.Detach(t.Context(), id, "left"); err != nil {
		t.Fatal(err)
	}
	if got, want := b.kinds(t, s.ID), "created started waiting joined answered attached detached"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

func TestAttachNeedsALiveSession(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	s := b.create(t, "fleeting")
	attach := func(session, node string) error {
		_, err := b.Attach(t.Context(), store.Attachment{ID: newID(), Session: session, Node: node})
		return err
	}
	wantKind(t, attach(s.ID, b.node.ID), hitchpost.ConflictError)
	b.change(t, s.ID, hitchpost.ChangeStartFailed)
	wantKind(t, attach(s.ID, b.node.ID), hitchpost.ConflictError)
	wantKind(t, attach(newID(), b.node.ID), hitchpost.NotFoundError)
	live := b.live(t, "lasting")
	wantKind(t, attach(live.ID, newID()), hitchpost.NotFoundError)
	if now, err := b.Session(t.Context(), live.ID); err != nil || now.Attached != 0 || !now.LastAttachedAt.IsZero() {
		t.Errorf("a refused attachment left %+v, %v", now, err)
	}
}

// What a killed service left is taken away for its node alone.
func TestDropAttachments(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	other, err := b.Node(t.Context(), newID(), "there")
	if err != nil {
		t.Fatal(err)
	}
	mine, shared := b.live(t, "mine"), b.live(t, "shared")
	b.attach(t, mine.ID)
	b.attach(t, mine.ID)
	b.attach(t, shared.ID)
	if _, err := b.Attach(t.Context(), store.Attachment{ID: newID(), Session: shared.ID, Node: other.ID}); err != nil {
		t.Fatal(err)
	}
	if err := b.DropAttachments(t.Context(), b.node.ID); err != nil {
		t.Fatal(err)
	}
	if now, err := b.Session(t.Context(), mine.ID); err != nil || now.State != hitchpost.Detached || now.Attached != 0 {
		t.Errorf("%+v, %v", now, err)
	}
	if now, err := b.Session(t.Context(), shared.ID); err != nil || now.State != hitchpost.Running || now.Attached != 1 {
		t.Errorf("%+v, %v", now, err)
	}
	if got, want := b.kinds(t, mine.ID), "created started attached joined detached"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
}

// A client that was dropped finds the session it was in.
func TestClientSession(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	one, two := b.live(t, "one"), b.live(t, "two")
	for _, s := range []hitchpost.Session{one, two} {
		id := newID()
		_, err := b.Attach(t.Context(), store.Attachment{ID: id, Session: s.ID, Node: b.node.ID, Client: "laptop"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.Detach(t.Context(), id, "left"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.ClientSession(t.Context(), "laptop"); err != nil || got != two.ID {
		t.Errorf("%s, %v", got, err)
	}
	for _, unknown := range []string{"phone", "", "laptop\x00", "%", "\xff"} {
		_, err := b.ClientSession(t.Context(), unknown)
		wantKind(t, err, hitchpost.NotFoundError)
	}
}

package store

import (
	"context"
	"time"

	"github.com/hitchpost/hitchpost"
)

func (s *Store) Sessions(ctx context.Context, r hitchpost.ListRequest) ([]hitchpost.Session, error) {
	panic("pending")
}
func (s *Store) Session(ctx context.Context, id string) (hitchpost.Session, error) { panic("pending") }
func (s *Store) Resolve(ctx context.Context, ref, fingerprint string) (hitchpost.Session, error) {
	panic("pending")
}
func (s *Store) Create(ctx context.Context, n hitchpost.Session, by By) (hitchpost.Session, error) {
	panic("pending")
}
func (s *Store) Adopt(ctx context.Context, n hitchpost.Session, by By) (hitchpost.Session, error) {
	panic("pending")
}
func (s *Store) Change(ctx context.Context, id string, t Transition) (hitchpost.Session, error) {
	panic("pending")
}
func (s *Store) Rename(ctx context.Context, id, title string, by By) (hitchpost.Session, error) {
	panic("pending")
}
func (s *Store) Touch(ctx context.Context, outputs []Output) error  { panic("pending") }
func (s *Store) SetPlace(ctx context.Context, places []Place) error { panic("pending") }

func (s *Store) Attach(ctx context.Context, a Attachment) (hitchpost.Session, error) {
	panic("pending")
}
func (s *Store) Detach(ctx context.Context, id string) (hitchpost.Session, error) { panic("pending") }
func (s *Store) DropAttachments(ctx context.Context, nodeID string) error         { panic("pending") }
func (s *Store) ClientSession(ctx context.Context, client string) (sessionID string, err error) {
	panic("pending")
}

func (s *Store) Keys(ctx context.Context) ([]hitchpost.Key, error) { panic("pending") }
func (s *Store) AddKey(ctx context.Context, k hitchpost.Key, by By) (hitchpost.Key, error) {
	panic("pending")
}
func (s *Store) RevokeKey(ctx context.Context, fingerprint string, by By) (hitchpost.Key, error) {
	panic("pending")
}
func (s *Store) KeyUsed(ctx context.Context, fingerprint string, at time.Time) error {
	panic("pending")
}

func (s *Store) Node(ctx context.Context, id, name string) (hitchpost.Node, error) { panic("pending") }
func (s *Store) Nodes(ctx context.Context) ([]hitchpost.Node, error)               { panic("pending") }
func (s *Store) SetNodeState(ctx context.Context, id string, state hitchpost.NodeState, reason string) error {
	panic("pending")
}

func (s *Store) Events(ctx context.Context, sessionID string, after int64, limit int) ([]hitchpost.Event, error) {
	panic("pending")
}
func (s *Store) AppendEvent(ctx context.Context, e hitchpost.Event, by By) (hitchpost.Event, error) {
	panic("pending")
}
func (s *Store) PruneEvents(ctx context.Context, before time.Time) (int64, error) { panic("pending") }

func (s *Store) Listen(ctx context.Context, fn func(Notice)) error { panic("pending") }

type Lease struct{}

func (s *Store) Lease(ctx context.Context, name string) (*Lease, error) { panic("pending") }
func (l *Lease) Lost() <-chan struct{}                                  { panic("pending") }
func (l *Lease) Release() error                                         { panic("pending") }

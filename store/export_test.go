package store

import (
	"context"

	"github.com/jackc/tern/v2/migrate"
)

// MigrateWith is Migrate as a later program would do it, with more migrations.
func (s *Store) MigrateWith(ctx context.Context, later ...*migrate.Migration) error {
	return s.migrate(ctx, later)
}

// After and Fault are what the tables of tests walk.
var (
	After = after
	Fault = fault
	Steps = steps
)

// EventSpace is the lock under which ids of events are taken, and ConversationSpace that under which conversations are.
const (
	EventSpace        = eventSpace
	ConversationSpace = conversationSpace
)

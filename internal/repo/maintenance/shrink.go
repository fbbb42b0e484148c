package maintenance

import (
	"context"
	"log/slog"
	"time"

	"arbor/internal/db"
	"arbor/internal/space"
)

// Shrinker returns freed space to the disk: free pages of SQLite's file, in pieces.
type Shrinker struct {
	db   *db.DB
	log  *slog.Logger
	room *space.Guard
}

// NewShrinker returns a shrinker. While room refuses writes, it leaves no free pages in the file.
func NewShrinker(d *db.DB, log *slog.Logger, room *space.Guard) *Shrinker {
	return &Shrinker{d, log, room}
}

const (
	shrinkEvery = 10 * time.Second
	shrinkKeep  = 16 << 20 // bytes that stay free for new rows, and at least a tenth of the file
)

// Run shrinks until ctx is done. It returns nil: failures are logged and tried again.
func (s *Shrinker) Run(ctx context.Context) error {
	return db.Upkeep(ctx, s.log, shrinkEvery, "free pages of the database were not given back", s.Shrink)
}

// Shrink releases the present free pages. Others write between the pieces.
func (s *Shrinker) Shrink(ctx context.Context) error {
	keep := int64(shrinkKeep)
	if s.room.Check() != nil {
		keep = 0
	}
	return db.RunInSteps(ctx, func(ctx context.Context) (bool, error) { return s.db.Shrink(ctx, keep) })
}

package main

import (
	"errors"
	"fmt"
	"log/slog"

	"arbor/internal/db"
)

// vacuumCommand is for a SQLite file that has much free inside and is older than the map by which servers give
// free pages back themselves.
type vacuumCommand struct{ storeFlags }

// Run rewrites the file. A server may be running.
func (c *vacuumCommand) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		if s.db.Engine() != db.SQLite {
			return errors.New("only SQLite needs this: PostgreSQL's autovacuum makes free space available to new rows, and " +
				"VACUUM FULL returns it to the disk")
		}
		before := s.db.Size()
		line := newProgress(p.stderr)
		line.show("database", 0, 0)
		err := s.db.Scrub(p.ctx, true)
		line.end()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "the database had %d MiB and has %d MiB\n", before>>20, s.db.Size()>>20)
		return err
	})
}

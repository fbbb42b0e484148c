package main

import (
	"fmt"
	"log/slog"
	"time"

	"arbor/internal/db"
)

type nodesCommand struct {
	storeFlags
	listFlags
}

// Run prints a line for each server that works on the store, and for a day for those that
// died.
func (c *nodesCommand) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		var list []db.NodeInfo
		if err := s.db.Read(p.ctx, func(tx *db.Tx) (err error) {
			list, err = db.Nodes(tx)
			return err
		}); err != nil {
			return err
		}
		w := p.rows(c.listFlags, "NODE", "VERSION", "STARTED", "SEEN", "CLOCK", "STATE")
		for _, n := range list {
			state := "live"
			if !n.Live {
				state = "lost"
			}
			if err := w.add(n.Name, n.Version, n.Started, n.Seen,
				fmt.Sprintf("%+dms", n.Skew.Round(time.Millisecond).Milliseconds()), state); err != nil {
				return err
			}
		}
		return w.flush()
	})
}

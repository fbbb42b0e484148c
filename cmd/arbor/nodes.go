package main

import (
	"fmt"
	"log/slog"
	"time"

	"arbor/internal/db"
)

type nodesCommand struct{ storeFlags }

// Run prints a line for each server that works on the store, and for a day for those that
// died.
func (c *nodesCommand) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		var list []db.NodeInfo
		if err := s.db.Read(p.ctx, func(tx *db.Tx) (err error) {
			list, err = db.Nodes(tx)
			return err
		}); err != nil {
			return err
		}
		w := p.table()
		fmt.Fprintln(w, "NODE\tVERSION\tSTARTED\tSEEN\tCLOCK\tSTATE")
		for _, n := range list {
			state := "live"
			if !n.Live {
				state = "lost"
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%+dms\t%s\n", n.Name, n.Version, when(n.Started), when(n.Seen),
				n.Skew.Round(time.Millisecond).Milliseconds(), state)
		}
		return w.Flush()
	})
}

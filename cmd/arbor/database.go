package main

import (
	"errors"
	"fmt"
	"log/slog"

	"arbor/internal/audit"
	"arbor/internal/backup"
	"arbor/internal/db"
	"arbor/internal/identity"
)

type databaseCommand struct {
	Move   moveCommand   `cmd:"" help:"Copy the database into an empty one. Stop the server first, and start it with --database URL afterwards."`
	Vacuum vacuumCommand `cmd:"" help:"Rewrite SQLite's file without free pages. Writers wait."`
	Claim  claimCommand  `cmd:"" help:"Assign the data folder to this database, even if it belongs to another or this one was moved. Stop all servers on both first."`
}

type moveCommand struct {
	storeFlags
	To string `arg:"" name:"url" help:"Target: postgres://... or the path of a SQLite file." placeholder:"URL"`
}

// Run copies all rows. The objects stay in the data folder.
func (c *moveCommand) Run(p *process) error {
	c.alone = true
	return withStore(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		if err := s.record(p, audit.StoreMove); err != nil {
			return err
		}
		line := newProgress(p.stderr)
		line.show("database", 0, 0)
		err := backup.MoveDatabase(p.ctx, s.db, s.identity(), db.Options{URL: c.To})
		line.end()
		if errors.Is(err, db.ErrNotEmpty) {
			return errors.New("the target database is not empty: create a new one")
		}
		if err == nil {
			_, err = fmt.Fprintln(p.stdout, "moved. From now on set database in the settings file, or --database for the "+
				"server and all commands. The old database is refused; keep it until you trust the new one")
		}
		return err
	})
}

type claimCommand struct{ storeFlags }

// Run binds the data folder and the database, and ends the bonds that they had.
func (c *claimCommand) Run(p *process) error {
	if err := c.exists(); err != nil {
		return err
	}
	c.claims, c.alone = true, true
	return withNewStore(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		if err := identity.Claim(p.ctx, s.db, s.identity()); err != nil {
			return err
		}
		if err := s.record(p, audit.StoreClaim); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.stdout, "%s belongs to this database now: a server removes repositories "+
			"that the database does not know within hours, so look first\n", s.dir)
		return err
	})
}

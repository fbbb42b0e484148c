package main

import (
	"errors"
	"fmt"
	"log/slog"

	"arbor/internal/audit"
	"arbor/internal/depot"
	"arbor/internal/file"
	"arbor/internal/fsck"
	"arbor/internal/packs"
)

type objectsCommand struct {
	Move   objectsMove   `cmd:"" help:"Move all files and repositories to a bucket, another folder or back to the data folder. Run it again to go on after a stop."`
	Verify objectsVerify `cmd:"" help:"Check that each file and each pack is there with its size. Exits with 3 if one is missing or altered."`
}

// toDataFolder is the word for the data folder where an address is expected.
const toDataFolder = "data"

type objectsMove struct {
	storeFlags
	To string `required:"" help:"Address as of serve --objects, or data for the data folder." placeholder:"URL"`
}

// Run moves files and repositories, with servers running on the store or not. The status is statusUnsound for files that are
// damaged, which stay where they are.
func (c *objectsMove) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		to := ""
		if c.To != toDataFolder {
			var err error
			if to, err = depot.Canonical(c.To); err != nil {
				return err
			}
		}
		if err := s.record(p, audit.StoreMove); err != nil {
			return err
		}
		line := newProgress(p.stderr)
		bad := 0
		o := file.MoveOptions{To: to, Progress: func(done, all int64) { line.show("files", done, all) },
			Problem: func(problem string) {
				bad++
				line.clear()
				fmt.Fprintf(p.stdout, "PROBLEM   %s\n", problem)
			}}
		services := s.forge(log)
		moved, err := services.Files.Move(p.ctx, o)
		var packed packs.Moved
		if err == nil {
			packed, err = services.Packs.Move(p.ctx, packs.MoveOptions{Problem: o.Problem,
				Progress: func(done, all int64) { line.show("repositories", done, all) }})
		}
		line.end()
		if _, ok := errors.AsType[*file.RestartError](err); ok {
			fmt.Fprintln(p.stdout, "servers that start from now on store new files and repositories there")
		}
		if moved.Files > 0 {
			fmt.Fprintf(p.stdout, "moved %d files, %d MiB\n", moved.Files, moved.Bytes>>20)
		}
		if packed.Repositories+packed.Packs > 0 {
			fmt.Fprintf(p.stdout, "moved %d repositories, and %d packs of other repositories\n", packed.Repositories,
				packed.Packs)
		}
		switch left := moved.Left + packed.Left; {
		case err != nil:
			return err
		case bad > 0:
			fmt.Fprintf(p.stdout, "%d could not be moved\n", bad)
			return &exitStatus{statusUnsound}
		case left > 0:
			_, err = fmt.Fprintf(p.stdout, "%d files or packs are not there yet: run this command again\n", left)
			return err
		}
		if err := services.Files.LeaveEmpty(p.ctx); err != nil {
			return err
		}
		_, err = fmt.Fprintln(p.stdout, "all files and repositories are there")
		return err
	})
}

type objectsVerify struct {
	storeFlags
	Deep bool `help:"Also read each file and compare it with its SHA-256."`
	JSON bool `name:"json" help:"Print the report as JSON."`
}

// Run looks at files and packs alone, as arbor check does.
func (c *objectsVerify) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		return runCheck(p, fsck.Options{DB: s.db, Git: s.git, Folder: s.dir, Log: log, Full: c.Deep, Part: fsck.Files},
			c.JSON)
	})
}

package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"arbor/internal/audit"
	"arbor/internal/backup"
)

type backupCommand struct {
	Make   backupMake   `cmd:"" default:"withargs" help:"Back up a store. The server may run. \"make\" is optional."`
	Verify backupVerify `cmd:"" help:"Compare every file of a backup with its checksum. Exits with 3 if one is missing or altered."`
}

type backupMake struct {
	storeFlags
	Target string `arg:"" help:"Folder of the backup, updated if it holds an earlier one; - writes a tar file to standard output." placeholder:"DIR|-"`
}

// Run creates a backup, with a server running on the store or not. The status is statusUnsound for a backup that
// was made where files of the one before had rotted.
func (c *backupMake) Run(p *process) error {
	if err := refuseFile(c.Target, "arbor backup - > "+c.Target); err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		if err := s.record(p, audit.StoreBackup); err != nil {
			return err
		}
		line := newProgress(p.stderr)
		rotten := 0
		services := s.forge(log)
		from := backup.Source{DB: s.db, Folder: s.dir, Files: services.Files, Packs: services.Packs,
			Progress: line.show, Problem: func(problem string) {
				rotten++
				line.note("PROBLEM   " + problem)
			}}
		var m *backup.Manifest
		var err error
		if c.Target == "-" {
			m, err = backup.ToStream(p.ctx, from, p.stdout)
		} else {
			m, err = backup.ToFolder(p.ctx, from, c.Target)
		}
		line.end()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stderr, "backed up the store as of %s: the database and %d files\n",
			m.At.Format(time.RFC3339), len(m.Files))
		if err == nil && rotten > 0 {
			fmt.Fprintf(p.stderr, "bad files of the backup before: %d; they lie in %s, and what the store "+
				"still has was copied again. Do not trust that disk: run arbor backup verify %s\n", rotten,
				filepath.Join(c.Target, "rotten"), c.Target)
			err = &exitStatus{statusUnsound}
		}
		return err
	})
}

// refuseFile refuses a file where a backup's folder is expected, and says what to call instead.
func refuseFile(path, instead string) error {
	if info, err := os.Stat(path); path != "-" && err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file: use %s", path, instead)
	}
	return nil
}

type backupVerify struct {
	Source string `arg:"" help:"Folder of the backup." placeholder:"DIR"`
}

// Run verifies a backup. It needs no store.
func (c *backupVerify) Run(p *process) error {
	err := refuseFile(c.Source, "arbor restore --data NEW - < "+c.Source+", which verifies all of it first")
	if err != nil {
		return err
	}
	bad := 0
	line := newProgress(p.stderr)
	v := backup.Verification{Progress: line.show, Problem: func(problem string) {
		bad++
		line.clear()
		fmt.Fprintf(p.stdout, "PROBLEM   %s\n", problem)
	}}
	m, err := backup.Verify(p.ctx, c.Source, v)
	line.end()
	switch {
	case err != nil:
		return err
	case bad > 0:
		fmt.Fprintf(p.stdout, "bad files: %d; remove them, and the next arbor backup copies those again that the store has\n", bad)
		return &exitStatus{statusUnsound}
	}
	_, err = fmt.Fprintf(p.stdout, "the backup is whole, and holds the store as it was at %s: "+
		"%d files and the database\n", m.At.Format(time.RFC3339), len(m.Files))
	return err
}

type restoreCommand struct {
	storeFlags
	Source string `arg:"" help:"Folder of the backup; - reads a tar file from standard input." placeholder:"DIR|-"`
}

// Run restores a store from a backup.
func (c *restoreCommand) Run(p *process) error {
	if err := refuseFile(c.Source, "arbor restore - < "+c.Source); err != nil {
		return err
	}
	at, err := c.place()
	if err != nil {
		return err
	}
	line := newProgress(p.stderr)
	to := backup.Destination{Database: at.Database, Folder: at.DataDir, Progress: line.show}
	to.Verified = func(m *backup.Manifest) {
		line.clear()
		fmt.Fprintf(p.stdout, "the backup is whole, and holds the store as it was at %s\n",
			m.At.Format(time.RFC3339))
		if !m.Newest.IsZero() {
			fmt.Fprintf(p.stdout, "the newest thing in it is of %s, %s ago\n", m.Newest.Format(time.RFC3339),
				time.Since(m.Newest).Round(time.Second))
		}
	}
	if c.Source == "-" {
		err = backup.FromStream(p.ctx, p.stdin(), to)
	} else {
		err = backup.FromFolder(p.ctx, c.Source, to)
	}
	line.end()
	if err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		if err := s.record(p, audit.StoreRestore); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.stdout, "restored")
		return err
	})
}

package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"arbor/internal/audit"
	"arbor/internal/backup"
	"arbor/internal/db"
)

type backupCommand struct {
	storeFlags
	Target string `arg:"" help:"Folder of the backup, which is brought up to date if it holds an earlier one; - for standard output." placeholder:"DIR|-"`
}

// Run makes a backup, beside the server or without it.
func (c *backupCommand) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		if err := s.record(p, audit.StoreBackup); err != nil {
			return err
		}
		line := newProgress(p.stderr)
		from := backup.Source{DB: s.db, Folder: s.dir, Progress: line.show}
		var m *backup.Manifest
		var err error
		if c.Target == "-" {
			m, err = backup.ToStream(p.ctx, from, p.stdout)
		} else {
			m, err = backup.ToFolder(p.ctx, from, c.Target)
		}
		line.clear()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stderr, "backed up the store as it was at %s: %d files beside the database\n",
			m.At.Format(time.RFC3339), len(m.Files))
		return err
	})
}

type restoreCommand struct {
	storeFlags
	Source string `arg:"" help:"Folder of the backup; - for standard input." placeholder:"DIR|-"`
}

// Run makes a store of a backup.
func (c *restoreCommand) Run(p *process) error {
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
		err = backup.FromStream(p.ctx, os.Stdin, to)
	} else {
		err = backup.FromFolder(p.ctx, c.Source, to)
	}
	line.clear()
	if err != nil {
		return err
	}
	return administer(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		if err := s.record(p, audit.StoreRestore); err != nil {
			return err
		}
		_, err := fmt.Fprintln(p.stdout, "restored")
		return err
	})
}

type databaseCommand struct {
	Move   moveCommand   `cmd:"" help:"Copy the database into another, empty one. Stop the server first, and start it with --database URL."`
	Vacuum vacuumCommand `cmd:"" help:"Write SQLite's file anew, without the pages that deletions left free. Writers wait for it."`
}

type moveCommand struct {
	storeFlags
	To string `arg:"" name:"url" help:"Where it goes: postgres://... or the path of a SQLite file." placeholder:"URL"`
}

// Run copies all rows. The objects stay in the data folder.
func (c *moveCommand) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, _ *slog.Logger) error {
		if err := s.record(p, audit.StoreMove); err != nil {
			return err
		}
		line := newProgress(p.stderr)
		line.show("database", 0, 0)
		err := backup.MoveDatabase(p.ctx, s.db, db.Options{URL: c.To})
		line.clear()
		if errors.Is(err, db.ErrNotEmpty) {
			return errors.New("the other database is not empty")
		}
		if err == nil {
			_, err = fmt.Fprintln(p.stdout,
				"moved; start the server with --database, and keep the old one until you trust it")
		}
		return err
	})
}

// progress shows how far work is: a bar on a terminal, else a line for each part and for
// each tenth of one that takes long.
type progress struct {
	mu     sync.Mutex
	bar    *progressLine
	w      io.Writer
	part   string
	told   int64 // tenths
	toldAt time.Time
}

// lineEvery is the least time between two lines about one part.
const lineEvery = 10 * time.Second

func newProgress(w io.Writer) *progress { return &progress{bar: progressOn(w), w: w} }

func (p *progress) show(part string, done, all int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar.w != nil {
		const width = 30
		text := part
		if all > 0 {
			n := int(width * done / all)
			text = fmt.Sprintf("%-12s [%s%s] %3d%%", part, strings.Repeat("#", n),
				strings.Repeat(".", width-n), 100*done/all)
		}
		p.bar.show(text, 0, 0)
		return
	}
	tenth := int64(0)
	if all > 0 {
		tenth = 10 * done / all
	}
	if part != p.part || tenth > p.told && time.Since(p.toldAt) >= lineEvery {
		p.part, p.told, p.toldAt = part, tenth, time.Now()
		fmt.Fprintf(p.w, "%s: %d%%\n", part, 10*tenth)
	}
}

func (p *progress) clear() { p.bar.clear() }

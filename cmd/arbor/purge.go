package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo/purge"
)

type repoPurge struct {
	onRepo
	confirmFlags
	Unreachable bool   `help:"Remove every object that no branch, tag or pull request reaches." env:"-" xor:"what" required:""`
	Commit      string `help:"Remove this commit, tree, blob or tag, the objects that lead to it, and those that only these reach. Refused while a ref or pull request reaches it." env:"-" xor:"what" required:"" placeholder:"SHA"`
	Network     bool   `env:"-" help:"Purge all repositories of the fork network."`
	DryRun      bool   `env:"-" help:"Print what would be removed, and change nothing."`
	Vacuum      bool   `env:"-" help:"Also rewrite the database, so that no free page holds deleted data. Writers wait. Default for SQLite files below 256 MiB."`
}

// alwaysVacuum is the size of a database in bytes below which it is rewritten without --vacuum.
const alwaysVacuum = 256 << 20

// Run purges, whether servers run or not.
func (c *repoPurge) Run(p *process) error {
	owner, name, err := splitRepo(c.Repository)
	if err != nil {
		return err
	}
	if !c.DryRun {
		if err := c.confirm(p, "objects of "+c.Repository, c.Repository); err != nil {
			return err
		}
	}
	c.secureDelete = true
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		repos := s.forge(log).Repos
		found, err := findRepo(p, repos, owner, name)
		if err != nil {
			return err
		}
		whole := c.Vacuum || s.db.Engine() == db.SQLite && s.db.Size() < alwaysVacuum
		line := newProgress(p.stderr)
		report, err := purge.New(s.db, s.git, repos).Purge(p.ctx, found,
			purge.Options{Object: c.Commit, Network: c.Network, DryRun: c.DryRun, Progress: line.show,
				Tell:   line.note,
				Finish: func(ctx context.Context) error { return s.db.Scrub(ctx, whole) }})
		line.end()
		if refused, ok := errors.AsType[*purge.Refused](err); ok {
			for _, reason := range refused.Reasons {
				fmt.Fprintln(p.stderr, reason)
			}
			return errors.New("refused: move or delete what leads there first. The head and the base of an open " +
				"pull request move with a forced push to its branch; what a merged or closed one names stays")
		}
		switch errs.KindOf(err) {
		case errs.NotFound, errs.Invalid, errs.Conflict:
			return err
		}
		if err != nil {
			return fmt.Errorf("%w (run it again: it resumes)", err)
		}
		if c.DryRun {
			return printPurgePlan(p.stdout, report)
		}
		if err := c.print(p.stdout, report, whole); err != nil {
			return err
		}
		for _, r := range report.Repos {
			if len(r.Left) > 0 {
				return fmt.Errorf("%s is still in use, and still has the purged objects: run it again later",
					r.Left[0])
			}
		}
		return nil
	})
}

func printPurgePlan(w io.Writer, report *purge.Report) error {
	for _, r := range report.Repos {
		fmt.Fprintf(w, "%s: %d objects would go%s\n", r.Name, r.Objects, whichObject(r))
	}
	return nil
}

// whichObject says what an abbreviation meant, and of what type it is.
func whichObject(r purge.Purged) string {
	if r.Object.Type == "" {
		return ""
	}
	return fmt.Sprintf(", with %s %s", r.Object.Type, r.Object.SHA)
}

func (c *repoPurge) print(w io.Writer, report *purge.Report, whole bool) error {
	for _, r := range report.Repos {
		if c.Commit != "" && r.Object.Type == "" {
			fmt.Fprintf(w, "%s: does not hold it; what earlier purges and deleted repositories left is removed\n", r.Name)
		} else {
			fmt.Fprintf(w, "%s: purged %d objects%s; its packs take %d bytes less\n", r.Name, r.Objects,
				whichObject(r), r.Bytes)
		}
		if r.Hunks+r.Statuses+r.Merges > 0 {
			fmt.Fprintf(w, "%s: emptied the diff of %d review comments, removed %d statuses and %d test merges\n",
				r.Name, r.Hunks, r.Statuses, r.Merges)
		}
	}
	if len(report.Forks) > 0 {
		fmt.Fprintln(w, "still held by these repositories of the network (--network purges them as well):")
		for _, name := range report.Forks {
			fmt.Fprintln(w, "  "+name)
		}
	}
	if report.Deleted {
		fmt.Fprintln(w, "deleted repositories that can be restored may hold it, too: see arbor repo deleted and arbor repo remove")
	}
	if len(report.Backups) > 0 {
		fmt.Fprintln(w, "backups that may still hold it:")
		for _, b := range report.Backups {
			place := b.Place
			if place == "" {
				place = "a stream, wherever it was sent"
			}
			fmt.Fprintf(w, "  %s  %s\n", b.At.Time().UTC().Format(time.RFC3339), place)
		}
	}
	if !whole {
		fmt.Fprintln(w, "free places in the database's files may hold parts of comments that were deleted earlier: --vacuum clears them")
	}
	_, err := fmt.Fprintln(w,
		"Clones that people have still hold it, and so do copies of the disk. Take a secret for known: replace it.")
	return err
}

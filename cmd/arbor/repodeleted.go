package main

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"arbor/internal/repo"
	"arbor/internal/repo/deleted"
)

type repoDeleted struct {
	storeFlags
	listFlags
	Owner string `arg:"" optional:"" help:"Login of the owner (default: all)."`
}

// Run prints a line for each deleted repository that can be restored.
func (c *repoDeleted) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		w := p.rows(c.listFlags, "ID", "REPOSITORY", "VISIBILITY", "KB", "DELETED", "REMOVED")
		err := s.forge(log).Deleted.Each(p.ctx, c.Owner, func(r deleted.Repo) error {
			return w.add(r.ID, r.FullName(), repo.Visibility(r.Private), r.KB, r.DeletedAt, r.DueAt)
		})
		if err != nil {
			return err
		}
		return w.flush()
	})
}

// onDeleted is a command about a deleted repository.
type onDeleted struct {
	storeFlags
	Repository string `arg:"" name:"owner/name" help:"The repository that was deleted, or its id, which arbor repo deleted lists."`
}

// find finds the deleted repository. Several may have had one name: then only the id says which.
func (c *onDeleted) find(p *process, s *deleted.Service) (found deleted.Repo, err error) {
	owner, name, _ := strings.Cut(c.Repository, "/")
	id, _ := strconv.ParseInt(c.Repository, 10, 64)
	n := 0
	err = s.Each(p.ctx, "", func(r deleted.Repo) error {
		if int64(r.ID) == id || strings.EqualFold(r.Owner, owner) && strings.EqualFold(r.Name, name) {
			found = r
			n++
		}
		return nil
	})
	switch {
	case err != nil:
	case n == 0:
		err = fmt.Errorf("no deleted repository %q can be restored: see arbor repo deleted", c.Repository)
	case n > 1:
		err = fmt.Errorf("%d deleted repositories were %s: say the id, which arbor repo deleted lists", n, c.Repository)
	}
	return found, err
}

type repoRestore struct {
	onDeleted
	As string `help:"The name that it gets (default: the one that it had)." placeholder:"NAME"`
}

// Run restores the repository.
func (c *repoRestore) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		found, err := c.find(p, f.Deleted)
		if err != nil {
			return err
		}
		a, err := f.Deleted.Restore(p.ctx, nil, found.ID, c.As)
		if err == nil {
			fmt.Fprintf(p.stdout, "restored %s\n", a.FullName())
		}
		return err
	})
}

type repoRemove struct {
	onDeleted
	confirmFlags
}

// Run marks the repository for removal, which a running server does within seconds.
func (c *repoRemove) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		found, err := c.find(p, f.Deleted)
		if err != nil {
			return err
		}
		if err := c.confirm(p, found.FullName(), found.FullName()); err != nil {
			return err
		}
		if err = f.Deleted.Remove(p.ctx, nil, found.ID); err == nil {
			fmt.Fprintf(p.stdout, "%s is being removed\n", found.FullName())
		}
		return err
	})
}

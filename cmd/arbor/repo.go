package main

import (
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/forge"
	"arbor/internal/repo"
	"arbor/internal/repo/settings"
	"arbor/internal/web"
)

// findRepo finds a repository for the operator, also by a former name. Error: 404 that names
// it.
func findRepo(p *process, repos *repo.Service, owner, name string) (*repo.Access, error) {
	a, err := findRepoAs(p, repos, &account.Caller{SiteAdmin: true}, owner, name)
	if err != nil {
		return nil, err
	}
	return a.OnArchived(), nil
}

// findRepoAs finds a repository that the caller can see. Error: NotFound.
func findRepoAs(
	p *process, repos *repo.Service, caller *account.Caller, owner, name string,
) (*repo.Access, error) {
	found, err := repos.Find(p.ctx, caller, owner, name)
	if errs.Is(err, errs.NotFound) {
		hidden := ""
		if caller.Login != "" {
			hidden = ", or " + caller.Login + " cannot see it"
		}
		return nil, errs.Newf(errs.NotFound, "repository %q not found%s", owner+"/"+name, hidden)
	}
	return &found.Access, err
}

type repoList struct {
	storeFlags
	listFlags
	Owner string `arg:"" optional:"" help:"Login of the owner (default: all)."`
}

// Run prints a line for each repository.
func (c *repoList) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		var owner account.ID
		if c.Owner != "" {
			a, err := f.Accounts.Find(p.ctx, c.Owner)
			if err != nil {
				return err
			}
			owner = a.ID
		}
		w := p.rows(c.listFlags, "ID", "REPOSITORY", "VISIBILITY", "STATE", "KB", "PUSHED")
		err := f.Repos.Each(p.ctx, owner, func(r *repo.Repo) error {
			visibility, state := "public", "active"
			if r.Private {
				visibility = "private"
			}
			switch {
			case r.Deleted():
				state = "deleted"
			case r.Archived:
				state = "archived"
			case r.Withdrawn:
				state = "withdrawn"
			}
			return w.add(r.ID, r.FullName(), visibility, state, r.SizeKB, r.PushedAt)
		})
		if err != nil {
			return err
		}
		return w.flush()
	})
}

// onRepo is a command about one repository.
type onRepo struct {
	storeFlags
	Repository string `arg:"" name:"owner/name" help:"The repository."`
}

// with runs an operation on the repository.
func (c *onRepo) with(p *process, do func(*forge.Forge, *repo.Access) error) error {
	owner, name, err := splitRepo(c.Repository)
	if err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		found, err := findRepo(p, f.Repos, owner, name)
		if err != nil {
			return err
		}
		return do(f, found)
	})
}

// change runs an operation on the repository, and prints a line when it has succeeded, with
// the name of the access that do leaves behind.
func (c *onRepo) change(p *process, line string, do func(*forge.Forge, *repo.Access) error) error {
	return c.with(p, func(f *forge.Forge, a *repo.Access) error {
		if err := do(f, a); err != nil {
			return err
		}
		f.Repos.Wait()
		fmt.Fprintf(p.stdout, line+"\n", a.FullName())
		return nil
	})
}

// archive archives the repository, or makes it writable again.
func (c *onRepo) archive(p *process, line string, is bool) error {
	return c.change(p, line, func(f *forge.Forge, a *repo.Access) error {
		if a.Archived == is {
			return nil
		}
		_, err := f.Settings.Edit(p.ctx, a, settings.Edit{Archived: web.Opt[bool]{Set: true, Value: is}})
		return err
	})
}

type repoArchive struct{ onRepo }

// Run archives the repository. A running server refuses writes from then on.
func (c *repoArchive) Run(p *process) error { return c.archive(p, "archived %s", true) }

type repoUnarchive struct{ onRepo }

// Run takes that back.
func (c *repoUnarchive) Run(p *process) error {
	return c.archive(p, "unarchived %s", false)
}

type repoTransfer struct {
	onRepo
	To string `arg:"" name:"new-owner[/new-name]" help:"The new owner, and the new name if it changes."`
}

// Run transfers the repository to another owner. The old address redirects to the new one.
func (c *repoTransfer) Run(p *process) error {
	owner, name, named := strings.Cut(c.To, "/")
	if owner == "" || named && name == "" || strings.Contains(name, "/") {
		return misuse("%q is not NEW_OWNER or NEW_OWNER/NEW_NAME", c.To)
	}
	return c.change(p, "transferred "+c.Repository+", which is now %s",
		func(f *forge.Forge, a *repo.Access) error {
			moved, err := f.Settings.Transfer(p.ctx, a, settings.Transfer{Owner: owner, Name: name})
			if err == nil {
				*a = *moved
			}
			return err
		})
}

type repoDelete struct {
	onRepo
	confirmFlags
	KeepDeleted time.Duration `help:"How long it can be restored; 0: not at all." default:"${keepDeleted}" placeholder:"DURATION"`
}

// Run deletes the repository. Until it is removed it can be restored.
func (c *repoDelete) Run(p *process) error {
	does := "deletes " + c.Repository + " and cannot be undone"
	if c.KeepDeleted > 0 {
		does = fmt.Sprintf("deletes %s, which can be restored within %s", c.Repository, days(c.KeepDeleted))
	}
	if err := c.ask(p, does, c.Repository); err != nil {
		return err
	}
	return c.change(p, "deleted %s", func(f *forge.Forge, a *repo.Access) error {
		f.Deleted.For = c.KeepDeleted
		return f.Settings.Delete(p.ctx, &repo.Access{Repo: a.Repo})
	})
}

// days writes a duration that is a number of days as such.
func days(d time.Duration) string {
	const day = 24 * time.Hour
	if d < day || d%day != 0 {
		return d.String()
	}
	return strconv.Itoa(int(d/day)) + " days"
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"

	"arbor/internal/account"
)

type userList struct {
	storeFlags
	listFlags
}

// Run prints a line for each user.
func (c *userList) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		w := p.rows(c.listFlags, "ID", "LOGIN", "NAME", "ROLE", "SUSPENDED", "CREATED")
		err := s.forge(log).Accounts.Each(p.ctx, account.User, func(a *account.Account) error {
			return w.add(a.ID, a.Login, a.Name, siteRole(a), a.SuspendedAt, a.CreatedAt)
		})
		if err != nil {
			return err
		}
		return w.flush()
	})
}

// siteRole describes a user's role on the whole site.
func siteRole(a *account.Account) string {
	if a.SiteAdmin {
		return "administrator"
	}
	return "user"
}

func orDash(text *string) string {
	if text == nil {
		return "-"
	}
	return *text
}

// userNamed is a command about one user.
type userNamed struct {
	storeFlags
	Login string `arg:"" help:"Login of the user."`
}

type userShow struct{ userNamed }

// Run prints what is known of the user.
func (c *userShow) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		accounts := s.forge(log).Accounts
		emails, err := accounts.Emails(p.ctx, c.Login)
		if err != nil {
			return err
		}
		orgs, err := accounts.Memberships(p.ctx, c.Login)
		if err != nil {
			return err
		}
		a, err := accounts.Find(p.ctx, c.Login)
		if err != nil {
			return err
		}
		w := p.table()
		for _, line := range [][2]string{
			{"login", a.Login}, {"id", a.ID.String()}, {"name", orDash(a.Name)}, {"role", siteRole(a)},
			{"suspended", when(a.SuspendedAt)}, {"created", when(a.CreatedAt)},
			{"repositories", fmt.Sprintf("%d public, %d private", a.PublicRepos, a.PrivateRepos+a.Withdrawn)},
			{"organizations", listOrgs(orgs)}, {"addresses", listEmails(emails)},
		} {
			fmt.Fprintf(w, "%s\t%s\n", line[0], line[1])
		}
		return w.Flush()
	})
}

func listOrgs(orgs []account.OrgMembership) string {
	list := make([]string, len(orgs))
	for i, o := range orgs {
		if list[i] = o.Login; o.Owner {
			list[i] += " (owner)"
		}
	}
	return cmp.Or(strings.Join(list, ", "), "-")
}

func listEmails(emails []account.Email) string {
	list := make([]string, len(emails))
	for i, e := range emails {
		if list[i] = e.Address; !e.Verified {
			list[i] += " (unverified)"
		}
	}
	return cmp.Or(strings.Join(list, ", "), "-")
}

// onUser is an operator's operation on a user. The operator is not an API caller.
type onUser = func(*account.Service, context.Context, *account.Caller, string) (*account.Account, error)

// change runs an operation on the user, and prints a line when it has succeeded.
func (c *userNamed) change(p *process, line string, do onUser) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		a, err := do(s.forge(log).Accounts, p.ctx, nil, c.Login)
		if err == nil {
			fmt.Fprintf(p.stdout, line+"\n", a.Login)
		}
		return err
	})
}

type userSuspend struct{ userNamed }

// Run suspends the user: a running server refuses its tokens from the next request on.
func (c *userSuspend) Run(p *process) error {
	return c.change(p, "suspended %s", (*account.Service).Suspend)
}

type userUnsuspend struct{ userNamed }

// Run ends the suspension.
func (c *userUnsuspend) Run(p *process) error {
	return c.change(p, "unsuspended %s", (*account.Service).Unsuspend)
}

type userPromote struct{ userNamed }

// Run promotes the user to site administrator.
func (c *userPromote) Run(p *process) error {
	return c.change(p, "%s is a site administrator", (*account.Service).Promote)
}

type userDemote struct{ userNamed }

// Run removes the site administrator's role from a user.
func (c *userDemote) Run(p *process) error {
	return c.change(p, "%s is not a site administrator", (*account.Service).Demote)
}

// renaming is a change of a login.
type renaming struct {
	storeFlags
	Login string `arg:"" help:"Current login."`
	To    string `arg:"" name:"new" help:"New login."`
}

func (c *renaming) rename(p *process, kind account.Kind) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		a, err := s.forge(log).Accounts.Rename(p.ctx, nil, kind, c.Login, c.To)
		if err == nil {
			fmt.Fprintf(p.stdout, "renamed %s to %s\n", c.Login, a.Login)
		}
		return err
	})
}

type userRename struct{ renaming }

// Run renames the user. A running server knows it from the next request on.
func (c *userRename) Run(p *process) error { return c.rename(p, account.User) }

// ending is the deletion of an account.
type ending struct {
	storeFlags
	confirmFlags
	Login string `arg:"" help:"Login of the account."`
}

func (c *ending) delete(p *process, kind account.Kind) error {
	if err := c.confirm(p, c.Login, c.Login); err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.forge(log).Accounts.Delete(p.ctx, nil, kind, c.Login)
		if err == nil {
			fmt.Fprintf(p.stdout, "deleted %s\n", c.Login)
		}
		return err
	})
}

type userDelete struct{ ending }

// Run deletes the user.
func (c *userDelete) Run(p *process) error { return c.delete(p, account.User) }

package main

import (
	"fmt"
	"log/slog"
	"strings"

	"arbor/internal/account"
)

type orgList struct {
	storeFlags
	listFlags
}

// Run prints a line for each organization.
func (c *orgList) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		w := p.rows(c.listFlags, "ID", "LOGIN", "NAME", "REPOSITORIES", "CREATED")
		err := s.forge(log).Accounts.Each(p.ctx, account.Organization, func(a *account.Account) error {
			return w.add(a.ID, a.Login, a.Name, a.PublicRepos+a.PrivateRepos+a.Withdrawn, a.CreatedAt)
		})
		if err != nil {
			return err
		}
		return w.flush()
	})
}

type orgShow struct {
	storeFlags
	Login string `arg:"" help:"Login of the organization."`
}

// Run prints what is known of the organization.
func (c *orgShow) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		org, owners, members, err := s.forge(log).Accounts.Organization(p.ctx, c.Login)
		if err != nil {
			return err
		}
		w := p.table()
		for _, line := range [][2]string{
			{"login", org.Login}, {"id", org.ID.String()}, {"name", orDash(org.Name)},
			{"created", when(org.CreatedAt)},
			{"repositories", fmt.Sprintf("%d public, %d private", org.PublicRepos,
				org.PrivateRepos+org.Withdrawn)},
			{"owners", strings.Join(owners, ", ")}, {"members", fmt.Sprint(members)},
		} {
			fmt.Fprintf(w, "%s\t%s\n", line[0], line[1])
		}
		return w.Flush()
	})
}

type orgRename struct{ renaming }

// Run renames the organization. A running server knows it from the next request on.
func (c *orgRename) Run(p *process) error { return c.rename(p, account.Organization) }

type orgDelete struct{ ending }

// Run deletes the organization.
func (c *orgDelete) Run(p *process) error { return c.delete(p, account.Organization) }

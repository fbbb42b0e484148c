package main

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/forge"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

type issueCommand struct {
	Pin      issuePin      `cmd:"" help:"Pin an issue to the top of its repository; up to three can be pinned."`
	Unpin    issueUnpin    `cmd:"" help:"Unpin an issue."`
	Transfer issueTransfer `cmd:"" help:"Move an issue to another repository of the same owner. Its old address redirects."`
	Delete   issueDelete   `cmd:"" help:"Delete an issue and its comments. This cannot be undone."`
}

// onIssue is a command about one issue.
type onIssue struct {
	storeFlags
	Issue string `arg:"" name:"owner/name#number" help:"The issue."`
	As    string `required:"" help:"Act as this user, who needs the right to do it." placeholder:"LOGIN"`
}

// splitIssue reads OWNER/NAME#NUMBER.
func splitIssue(s string) (owner, name string, number int64, err error) {
	full, after, _ := strings.Cut(s, "#")
	if owner, name, err = splitRepo(full); err == nil {
		number, err = strconv.ParseInt(after, 10, 64)
	}
	if err != nil || number < 1 {
		return "", "", 0, misuse("%q is not OWNER/NAME#NUMBER", s)
	}
	return owner, name, number, nil
}

// change runs an operation on the issue as the user, whose right to write to the repository is asked
// again when the change is committed.
func (c *onIssue) change(
	p *process, do func(context.Context, *forge.Forge, *repo.Access, int64) error,
) error {
	owner, name, number, err := splitIssue(c.Issue)
	if err != nil {
		return err
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		as, err := f.Accounts.Find(p.ctx, c.As)
		if err != nil {
			return err
		}
		if as.Kind != account.User {
			return misuse("user %q not found", as.Login)
		}
		caller := &account.Caller{ID: as.ID, Login: as.Login, SiteAdmin: as.SiteAdmin}
		a, err := findRepoAs(p, f.Repos, caller, owner, name)
		if err != nil {
			return err
		}
		err = do(p.ctx, f, a, number)
		switch {
		case err != nil && err.Error() == errs.Absent().Error():
			return errs.Newf(errs.NotFound, "issue %q not found", c.Issue)
		case errs.Is(err, errs.Forbidden):
			return fmt.Errorf("not allowed as %s: %w", as.Login, err)
		}
		return err
	})
}

type issuePin struct{ onIssue }

// Run pins the issue.
func (c *issuePin) Run(p *process) error {
	return c.change(p, func(ctx context.Context, f *forge.Forge, a *repo.Access, number int64) error {
		i, err := f.Issues.Pin(ctx, a, number)
		if err == nil {
			fmt.Fprintf(p.stdout, "pinned %s#%d\n", a.FullName(), i.Number)
		}
		return err
	})
}

type issueUnpin struct{ onIssue }

// Run takes that back.
func (c *issueUnpin) Run(p *process) error {
	return c.change(p, func(ctx context.Context, f *forge.Forge, a *repo.Access, number int64) error {
		i, err := f.Issues.Unpin(ctx, a, number)
		if err == nil {
			fmt.Fprintf(p.stdout, "unpinned %s#%d\n", a.FullName(), i.Number)
		}
		return err
	})
}

type issueTransfer struct {
	onIssue
	To           string `arg:"" name:"new-owner/new-name" help:"The target repository."`
	CreateLabels bool   `help:"Create labels that the target repository does not have."`
}

// Run moves the issue.
func (c *issueTransfer) Run(p *process) error {
	owner, name, err := splitRepo(c.To)
	if err != nil {
		return err
	}
	return c.change(p, func(ctx context.Context, f *forge.Forge, a *repo.Access, number int64) error {
		to, err := findRepoAs(p, f.Repos, a.Caller, owner, name)
		if err != nil {
			return err
		}
		i, err := f.Issues.Transfer(ctx, a, number, issue.Transfer{To: to, CreateLabels: c.CreateLabels})
		if err == nil {
			fmt.Fprintf(p.stdout, "transferred %s#%d, which is now %s#%d\n", a.FullName(), number,
				to.FullName(), i.Number)
		}
		return err
	})
}

type issueDelete struct {
	onIssue
	confirmFlags
}

// Run deletes the issue.
func (c *issueDelete) Run(p *process) error {
	if err := c.confirm(p, c.Issue, c.Issue); err != nil {
		return err
	}
	return c.change(p, func(ctx context.Context, f *forge.Forge, a *repo.Access, number int64) error {
		err := f.Issues.Delete(ctx, a, number)
		if err == nil {
			fmt.Fprintf(p.stdout, "deleted %s#%d\n", a.FullName(), number)
		}
		return err
	})
}

package main

import (
	"context"
	"fmt"
	"log/slog"
	"text/tabwriter"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

type userCommand struct {
	Create userCreate   `cmd:"" help:"Register a user."`
	Email  emailCommand `cmd:"" help:"Manage the addresses by which commits are a user's."`
}

type userCreate struct {
	storeFlags
	Login string `arg:"" help:"Name of the user in addresses: letters, digits, '-', '.' and '_'."`
	Name  string `help:"Name for people to read."`
	Email string `help:"Address for mail. It is verified thereby: commits with it are the user's."`
	Admin bool   `help:"Make the user a site administrator, who may do everything."`
}

// Run registers the user.
func (c *userCreate) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		made, err := s.forge(log).Accounts.CreateUser(p.ctx,
			account.NewUser{Login: c.Login, Name: c.Name, Email: c.Email, Admin: c.Admin})
		if err == nil {
			fmt.Fprintf(p.stdout, "created user %s\n", made.Login)
		}
		return err
	})
}

type orgCommand struct {
	Create orgCreate `cmd:"" help:"Register an organization."`
}

type orgCreate struct {
	storeFlags
	Login string `arg:"" help:"Name of the organization in addresses."`
	Owner string `required:"" help:"Login of its first owner." placeholder:"LOGIN"`
}

// Run registers the organization.
func (c *orgCreate) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		made, err := s.forge(log).Accounts.CreateOrg(p.ctx, c.Login, c.Owner)
		if err == nil {
			fmt.Fprintf(p.stdout, "created organization %s\n", made.Login)
		}
		return err
	})
}

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Make an access token; it is printed once, and alone."`
	List   tokenList   `cmd:"" help:"List a user's tokens, without what would let one use them."`
	Revoke tokenRevoke `cmd:"" help:"End a token, at once."`
}

type tokenCreate struct {
	storeFlags
	Login   string `arg:"" help:"Login of the user whom the token stands for."`
	Note    string `help:"What the token is for."`
	Expires string `help:"How long the token is good, e.g. 90d, 12h or 30s (default: until it is revoked)." placeholder:"TIME"`
}

// Run prints the new token alone on standard output, so that a script can
// catch it.
func (c *tokenCreate) Run(p *process) error {
	var expires time.Duration
	if c.Expires != "" {
		var err error
		if expires, err = account.ParseExpiry(c.Expires); err != nil {
			return &usageError{err}
		}
	}
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		token, id, err := s.forge(log).Accounts.CreateToken(p.ctx,
			account.NewToken{Login: c.Login, Note: c.Note, Expires: expires})
		if err == nil {
			fmt.Fprintf(p.stderr, "created token %d for %s\n", id, c.Login)
			fmt.Fprintln(p.stdout, token)
		}
		return err
	})
}

type tokenList struct {
	storeFlags
	Login string `arg:"" help:"Login of the user."`
}

// Run prints one line a token.
func (c *tokenList) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		tokens, err := s.forge(log).Accounts.Tokens(p.ctx, c.Login)
		if err != nil {
			return err
		}
		w := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "ID\tTOKEN\tNOTE\tCREATED\tEXPIRES\tLAST USED\tREVOKED")
		for _, t := range tokens {
			fmt.Fprintf(w, "%d\t%s...\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Hint, t.Note,
				when(t.CreatedAt), when(t.ExpiresAt), when(t.LastUsedAt), when(t.RevokedAt))
		}
		return w.Flush()
	})
}

// when is a time for a table.
func when(t db.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Time().UTC().Format("2006-01-02 15:04")
}

type tokenRevoke struct {
	storeFlags
	Token string `arg:"" help:"The token, or its id." name:"id|token"`
}

// Run ends the token; a running server refuses it from the next request on.
func (c *tokenRevoke) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.forge(log).Accounts.RevokeToken(p.ctx, c.Token)
		if err == nil {
			fmt.Fprintln(p.stdout, "revoked")
		}
		return err
	})
}

type repoCommand struct {
	Create   repoCreate   `cmd:"" help:"Make a repository, empty or with the history of another."`
	GiveBack repoGiveBack `cmd:"" help:"Show a withdrawn fork, whose root was deleted, to its owner again."`
}

type repoGiveBack struct {
	storeFlags
	Repository string `arg:"" name:"owner/name" help:"Owner's login and name of the repository."`
}

// Run gives the fork back, which only site administrators saw until then.
func (c *repoGiveBack) Run(p *process) error {
	owner, name, err := splitRepo(c.Repository)
	if err != nil {
		return err
	}
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		repos := s.forge(log).Repos
		found, err := repos.Find(p.ctx, &account.Caller{SiteAdmin: true}, owner, name)
		if errs.Is(err, errs.NotFound) {
			return errs.Newf(errs.NotFound, "there is no repository %q", c.Repository)
		}
		if err == nil {
			err = repos.GiveBack(p.ctx, found.ID)
		}
		if err == nil {
			fmt.Fprintf(p.stdout, "gave %s back\n", found.FullName())
		}
		return err
	})
}

type repoCreate struct {
	storeFlags
	Repository  string `arg:"" name:"owner/name" help:"Owner's login and name of the repository."`
	Private     bool   `help:"Hide it from everyone without a role on it."`
	Description string `help:"What it is."`
	Import      string `help:"Take branches, tags and history from this repository." placeholder:"PATH-OR-URL"`
}

// Run makes the repository. When the import fails, none is left behind.
func (c *repoCreate) Run(p *process) error {
	owner, name, err := splitRepo(c.Repository)
	if err != nil {
		return err
	}
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		n := repo.NewRepo{Owner: owner, Name: name, Private: c.Private}
		if c.Description != "" {
			n.Description = &c.Description
		}
		repos := s.forge(log).Repos
		made, err := repos.Create(p.ctx, nil, n)
		if errs.Is(err, errs.NotFound) {
			return errs.Newf(errs.NotFound, "there is no user or organization %q", owner)
		}
		if err != nil {
			return err
		}
		if c.Import == "" {
			fmt.Fprintf(p.stdout, "created repository %s\n", made.FullName())
			return nil
		}
		refs, err := repos.Import(p.ctx, made, c.Import)
		if err != nil {
			return dropFailed(p, repos, made, err)
		}
		fmt.Fprintf(p.stdout, "created repository %s with %d refs\n", made.FullName(), refs)
		return nil
	})
}

// dropFailed takes back a repository whose import failed.
func dropFailed(p *process, repos *repo.Service, made *repo.Repo, cause error) error {
	if err := repos.Delete(context.WithoutCancel(p.ctx), made.ID, nil); err != nil {
		return fmt.Errorf("%w; and the empty repository could not be removed: %v", cause, err)
	}
	repos.Wait()
	return cause
}

package main

import (
	"cmp"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/scope"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Make an access token; it is printed once, and alone."`
	List   tokenList   `cmd:"" help:"List tokens, without what would let one use them."`
	Revoke tokenRevoke `cmd:"" help:"End a token, at once."`
}

type tokenCreate struct {
	storeFlags
	Login      string  `arg:"" help:"Login of the user whom the token stands for."`
	Note       string  `help:"What the token is for."`
	Expires    string  `help:"How long the token is good, e.g. 90d, 12h or 30s, or the day on which it ends, e.g. 2027-01-31 (default: until it is revoked)." placeholder:"TIME|DATE"`
	Scopes     *string `help:"What the token may do, as at GitHub, e.g. public_repo,read:org; all scopes: ${scopes} (default: ${usualScopes}; empty: read what is public)." placeholder:"SCOPE,..."`
	Repos      *string `help:"Make a fine-grained token instead: it sees what is public and these repositories." placeholder:"OWNER/NAME,..."`
	Permission string  `help:"What the token may do with --repos: read them or write to them (default: read)." enum:",read,write" default:"" placeholder:"read|write"`
}

// Run prints the new token alone on standard output, so that a script can
// catch it.
func (c *tokenCreate) Run(p *process) error {
	n, err := c.token()
	if err != nil {
		return &usageError{err}
	}
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		if n.Repos, err = c.chosen(p, f.Accounts, f.Repos); err != nil {
			return err
		}
		token, id, err := f.Accounts.CreateToken(p.ctx, n)
		if err == nil {
			fmt.Fprintf(p.stderr, "created token %d for %s\n", id, c.Login)
			fmt.Fprintln(p.stdout, token)
		}
		return err
	})
}

// token reads the flags, but for the repositories.
func (c *tokenCreate) token() (n account.NewToken, err error) {
	n = account.NewToken{Login: c.Login, Note: c.Note, Changes: c.Permission == "write"}
	switch {
	case c.Scopes != nil && c.Repos != nil:
		return n, fmt.Errorf("--scopes and --repos exclude each other")
	case c.Permission != "" && c.Repos == nil:
		return n, fmt.Errorf("--permission goes with --repos")
	}
	if n.Expires, err = account.ParseExpiry(c.Expires, time.Now()); err != nil || c.Repos != nil {
		return n, err
	}
	scopes := scope.Usual
	if c.Scopes != nil {
		scopes = *c.Scopes
	}
	n.Scopes, err = scope.Parse(scopes)
	return n, err
}

// chosen finds the repositories of a fine-grained token, which its user must see. nil: none
// were named.
func (c *tokenCreate) chosen(
	p *process, accounts *account.Service, repos *repo.Service,
) (ids []int64, err error) {
	if c.Repos == nil {
		return nil, nil
	}
	holder, err := accounts.CallerNamed(p.ctx, c.Login)
	if err != nil {
		return nil, err
	}
	for full := range strings.SplitSeq(*c.Repos, ",") {
		owner, name, err := splitRepo(full)
		if err != nil {
			return nil, err
		}
		found, err := repos.Find(p.ctx, holder, owner, name)
		if errs.Is(err, errs.NotFound) {
			return nil, errs.Newf(errs.NotFound, "there is no repository %q that %s sees", full, holder.Login)
		}
		if err != nil {
			return nil, err
		}
		ids = append(ids, int64(found.ID))
	}
	return ids, nil
}

type tokenList struct {
	storeFlags
	Login string `arg:"" optional:"" help:"Login of the user whose tokens to list (default: everyone's)."`
}

// Run prints one line a token.
func (c *tokenList) Run(p *process) error {
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		tokens, err := s.forge(log).Accounts.Tokens(p.ctx, c.Login)
		if err != nil {
			return err
		}
		w := p.table()
		fmt.Fprintln(w, "ID\tUSER\tTOKEN\tMAY\tNOTE\tCREATED\tEXPIRES\tLAST USED\tREVOKED")
		for i := range tokens {
			t := &tokens[i]
			fmt.Fprintf(w, "%d\t%s\t%s...\t%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, t.Login, t.Hint, t.May(),
				cmp.Or(t.Note, "-"),
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

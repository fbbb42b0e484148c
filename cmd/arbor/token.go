package main

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"arbor/internal/account/token"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/scope"
)

type tokenCommand struct {
	Create tokenCreate `cmd:"" help:"Create an access token and print it. It is shown only once."`
	List   tokenList   `cmd:"" help:"List tokens, without their values."`
	Revoke tokenRevoke `cmd:"" help:"Revoke a token."`
}

type tokenCreate struct {
	storeFlags
	Login      string  `arg:"" help:"Login of the user."`
	Note       string  `help:"What the token is for."`
	Expires    string  `help:"Lifetime such as 90d, 12h or 30s, or last day such as 2027-01-31 (default: no expiry)." placeholder:"TIME|DATE"`
	Scopes     *string `help:"GitHub's scopes, e.g. public_repo,read:org; all: ${scopes} (default: ${usualScopes}; empty: read public data only)." placeholder:"SCOPE,..."`
	Repos      *string `help:"Create a fine-grained token, limited to public data and these repositories." placeholder:"OWNER/NAME,..."`
	Permission string  `help:"Access to the repositories of --repos (default: read)." enum:",read,write" default:"" placeholder:"read|write"`
}

// Run prints the new token alone on standard output, so that a script can
// catch it.
func (c *tokenCreate) Run(p *process) error {
	n, err := c.token()
	if err != nil {
		return &usageError{err}
	}
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		if n.Repos, err = c.chosen(p, f.Tokens, f.Repos); err != nil {
			return err
		}
		token, id, err := f.Tokens.CreateToken(p.ctx, n)
		if err == nil {
			fmt.Fprintf(p.stderr, "created token %d for %s\n", id, c.Login)
			fmt.Fprintln(p.stdout, token)
		}
		return err
	})
}

// token reads the flags, but for the repositories.
func (c *tokenCreate) token() (n token.NewToken, err error) {
	n = token.NewToken{Login: c.Login, Note: c.Note, Changes: c.Permission == "write"}
	switch {
	case c.Scopes != nil && c.Repos != nil:
		return n, fmt.Errorf("--scopes and --repos cannot be used together")
	case c.Permission != "" && c.Repos == nil:
		return n, fmt.Errorf("--permission requires --repos")
	}
	if n.Expires, err = token.ParseExpiry(c.Expires, time.Now()); err != nil || c.Repos != nil {
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
	p *process, tokens *token.Service, repos *repo.Service,
) (ids []int64, err error) {
	if c.Repos == nil {
		return nil, nil
	}
	holder, err := tokens.CallerNamed(p.ctx, c.Login)
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
			return nil, errs.Newf(errs.NotFound, "repository %q not found, or %s cannot see it", full, holder.Login)
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
	listFlags
	Login string `arg:"" optional:"" help:"Login of the user (default: all users)."`
}

// Run prints one line a token.
func (c *tokenList) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		tokens, err := s.forge(log).Tokens.Tokens(p.ctx, c.Login)
		if err != nil {
			return err
		}
		w := p.rows(c.listFlags, "ID", "USER", "TOKEN", "MAY", "NOTE", "CREATED", "EXPIRES", "LAST USED", "REVOKED")
		for i := range tokens {
			t := &tokens[i]
			if err := w.add(t.ID, t.Login, t.Hint+"...", t.May(), t.Note, t.CreatedAt,
				t.ExpiresAt, t.LastUsedAt, t.RevokedAt); err != nil {
				return err
			}
		}
		return w.flush()
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
	Token string `arg:"" help:"The token or its id." name:"id|token"`
}

// Run ends the token; a running server refuses it from the next request on.
func (c *tokenRevoke) Run(p *process) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		err := s.forge(log).Tokens.RevokeToken(p.ctx, c.Token)
		if errs.Is(err, errs.NotFound) {
			return fmt.Errorf("%w: arbor token list shows the ids of all tokens", err)
		}
		if err == nil {
			fmt.Fprintln(p.stdout, "revoked")
		}
		return err
	})
}

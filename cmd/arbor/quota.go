package main

import (
	"fmt"
	"log/slog"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/page"
)

// quotaFlags change the quota of an account.
type quotaFlags struct {
	storeFlags
	Login string     `arg:"" help:"Login of the account."`
	Repos quotaCount `help:"Most repositories: a number, none for no limit, or default for that of --quota-repos." placeholder:"N"`
	Bytes quotaBytes `help:"Most bytes of repositories and files: a size like 10GiB, none, or default." placeholder:"SIZE"`
	Text  quotaBytes `help:"Most text in issues, comments and the like: a size, none, or default." placeholder:"SIZE"`
}

// quotaBound is a bound that a flag may change.
type quotaBound struct {
	given bool
	to    *int64
}

// parse reads a bound, a number by read.
func (b *quotaBound) parse(text string, read func(string) (int64, error)) error {
	n := account.Unbounded
	b.given, b.to = true, &n
	switch text {
	case "default":
		b.to = nil
		return nil
	case "none":
		return nil
	}
	var err error
	n, err = read(text)
	return err
}

type quotaCount struct{ quotaBound }

// UnmarshalText reads a number of repositories, which may be 0.
func (c *quotaCount) UnmarshalText(text []byte) error {
	return c.parse(string(text), func(s string) (int64, error) {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q is not a number of repositories, none or default", s)
		}
		return n, nil
	})
}

type quotaBytes struct{ quotaBound }

// UnmarshalText reads a size, which is stored in KiB.
func (b *quotaBytes) UnmarshalText(text []byte) error {
	return b.parse(string(text), func(s string) (int64, error) {
		if s == "0" {
			return 0, nil
		}
		var size byteSize
		err := size.UnmarshalText([]byte(s))
		return (int64(size) + 1023) / 1024, err
	})
}

// run changes what the flags say, and prints what the account may own and what it does.
func (c *quotaFlags) run(p *process, kind account.Kind) error {
	return withStore(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		a, q, u, err := s.forge(log).Accounts.EditQuota(p.ctx, nil, kind, c.Login, func(q *account.Quota) {
			if c.Repos.given {
				q.Repos = c.Repos.to
			}
			if c.Bytes.given {
				q.KB = c.Bytes.to
			}
			if c.Text.given {
				q.Text = c.Text.to
			}
		})
		if err == nil {
			repos := "1 repository"
			if u.Repos != 1 {
				repos = fmt.Sprintf("%d repositories", u.Repos)
			}
			fmt.Fprintf(p.stdout, "%s: %s (%s), %s of Git and files (%s), %s of text (%s)\n", a.Login,
				repos, limitOf(q.Repos, func(n int64) string { return strconv.FormatInt(n, 10) }),
				page.Bytes(u.KB<<10), limitOf(q.KB, account.Kibibytes),
				page.Bytes(u.TextKB<<10), limitOf(q.Text, account.Kibibytes))
		}
		return err
	})
}

// limitOf writes a bound of an account.
func limitOf(n *int64, write func(int64) string) string {
	switch {
	case n == nil:
		return "the server's limit"
	case *n == account.Unbounded:
		return "no limit"
	}
	return "limit " + write(*n)
}

type userQuota struct{ quotaFlags }

// Run is for users.
func (c *userQuota) Run(p *process) error { return c.run(p, account.User) }

type orgQuota struct{ quotaFlags }

// Run is for organizations.
func (c *orgQuota) Run(p *process) error { return c.run(p, account.Organization) }

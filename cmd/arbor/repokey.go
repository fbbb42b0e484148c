package main

import (
	"cmp"
	"fmt"
	"log/slog"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/forge"
	"arbor/internal/repo"
)

type repoKeyCommand struct {
	Add    repoKeyAdd    `cmd:"" help:"Let an SSH key fetch from a repository, and push unless --read-only."`
	List   repoKeyList   `cmd:"" help:"List a repository's deploy keys."`
	Remove repoKeyRemove `cmd:"" help:"End a deploy key of a repository, also in a running server."`
}

// keys runs an operation on the repository's deploy keys.
func (c *onRepo) keys(p *process, do func(*forge.Forge, *repo.Access) error) error {
	owner, name, err := splitRepo(c.Repository)
	if err != nil {
		return err
	}
	return administer(p, &c.storeFlags, func(s *store, log *slog.Logger) error {
		f := s.forge(log)
		found, err := findRepo(p, f.Repos, owner, name)
		if err != nil {
			return err
		}
		return do(f, found)
	})
}

type repoKeyAdd struct {
	onRepo
	File     string `arg:"" help:"File with the public key, which ends in .pub; - is standard input." placeholder:"FILE"`
	Title    string `help:"What the key is for (default: its comment)." placeholder:"TEXT"`
	ReadOnly bool   `help:"The key only fetches."`
	As       string `help:"User as whom it pushes (default: the repository's owner, if that is one)." placeholder:"LOGIN"`
}

// Run adds the key.
func (c *repoKeyAdd) Run(p *process) error {
	text, err := p.readKey(c.File)
	if err != nil {
		return err
	}
	return c.keys(p, func(f *forge.Forge, a *repo.Access) error {
		as, err := f.Accounts.Find(p.ctx, cmp.Or(c.As, a.Owner.Login))
		if err != nil {
			return err
		}
		if as.Kind == account.Organization {
			return misuse("%q is an organization: say with --as as which user the key pushes", as.Login)
		}
		k, err := f.Settings.AddKey(p.ctx, a.ID,
			as.ID, account.NewKey{Title: c.Title, Text: text, ReadOnly: c.ReadOnly})
		if err == nil {
			fmt.Fprintf(p.stdout, "added key %d for %s\n", k.ID, a.FullName())
		}
		return err
	})
}

type repoKeyList struct{ onRepo }

// Run prints a line for each key.
func (c *repoKeyList) Run(p *process) error {
	return c.keys(p, func(f *forge.Forge, a *repo.Access) error {
		list, err := f.Settings.Keys(p.ctx, a.ID)
		if err != nil {
			return err
		}
		w := p.table()
		fmt.Fprintln(w, "ID\tFINGERPRINT\tMAY\tAS\tADDED\tLAST USED\tTITLE")
		for _, k := range list {
			may := "push"
			if k.ReadOnly {
				may = "fetch"
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Fingerprint, may, k.AddedLogin,
				when(k.CreatedAt), when(k.LastUsedAt), k.Title)
		}
		return w.Flush()
	})
}

type repoKeyRemove struct {
	onRepo
	ID int64 `arg:"" name:"id" help:"Id of the key, as list shows it."`
}

// Run ends the key.
func (c *repoKeyRemove) Run(p *process) error {
	return c.keys(p, func(f *forge.Forge, a *repo.Access) error {
		err := f.Settings.RemoveKey(p.ctx, a.ID, c.ID)
		if errs.Is(err, errs.NotFound) {
			return errs.Newf(errs.NotFound, "%s has no key %d", a.FullName(), c.ID)
		}
		if err == nil {
			fmt.Fprintf(p.stdout, "removed key %d of %s\n", c.ID, a.FullName())
		}
		return err
	})
}

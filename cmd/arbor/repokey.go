package main

import (
	"cmp"
	"fmt"

	"arbor/internal/account"
	"arbor/internal/account/key"
	"arbor/internal/errs"
	"arbor/internal/forge"
	"arbor/internal/repo"
)

type repoKeyCommand struct {
	Add    repoKeyAdd    `cmd:"" help:"Add a deploy key, which fetches and, unless --read-only, pushes."`
	List   repoKeyList   `cmd:"" help:"List a repository's deploy keys."`
	Remove repoKeyRemove `cmd:"" help:"Remove a deploy key. Takes effect at once."`
}

type repoKeyAdd struct {
	onRepo
	File     string `arg:"" help:"File with the public key (.pub); - reads standard input." placeholder:"FILE"`
	Title    string `help:"What the key is for (default: its comment)." placeholder:"TEXT"`
	ReadOnly bool   `help:"Only allow fetching."`
	As       string `help:"Attribute pushes to this user (default: the owner, if that is a user)." placeholder:"LOGIN"`
}

// Run adds the key.
func (c *repoKeyAdd) Run(p *process) error {
	text, err := p.readKey(c.File)
	if err != nil {
		return err
	}
	return c.with(p, func(f *forge.Forge, a *repo.Access) error {
		as, err := f.Accounts.Find(p.ctx, cmp.Or(c.As, a.Owner.Login))
		if err != nil {
			return err
		}
		if as.Kind == account.Organization {
			return misuse("%q is an organization: name the user for whom the key pushes with --as", as.Login)
		}
		k, err := f.Settings.AddKey(p.ctx, a,
			as.ID, key.NewKey{Title: c.Title, Text: text, ReadOnly: c.ReadOnly})
		if err == nil {
			fmt.Fprintf(p.stdout, "added key %d for %s\n", k.ID, a.FullName())
		}
		return err
	})
}

type repoKeyList struct {
	onRepo
	listFlags
}

// Run prints a line for each key.
func (c *repoKeyList) Run(p *process) error {
	return c.with(p, func(f *forge.Forge, a *repo.Access) error {
		list, err := f.Settings.Keys(p.ctx, a.ID)
		if err != nil {
			return err
		}
		w := p.rows(c.listFlags, "ID", "FINGERPRINT", "MAY", "AS", "ADDED", "LAST USED", "TITLE")
		for _, k := range list {
			may := "push"
			if k.ReadOnly {
				may = "fetch"
			}
			if err := w.add(k.ID, k.Fingerprint, may, k.AddedLogin, k.CreatedAt, k.LastUsedAt, k.Title); err != nil {
				return err
			}
		}
		return w.flush()
	})
}

type repoKeyRemove struct {
	onRepo
	ID int64 `arg:"" name:"id" help:"Id of the key, as list shows it."`
}

// Run ends the key.
func (c *repoKeyRemove) Run(p *process) error {
	return c.with(p, func(f *forge.Forge, a *repo.Access) error {
		err := f.Settings.RemoveKey(p.ctx, a, c.ID)
		if errs.Is(err, errs.NotFound) {
			return errs.Newf(errs.NotFound, "%s has no key %d", a.FullName(), c.ID)
		}
		if err == nil {
			fmt.Fprintf(p.stdout, "removed key %d of %s\n", c.ID, a.FullName())
		}
		return err
	})
}

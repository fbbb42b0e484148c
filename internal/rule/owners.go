package rule

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/codeowner"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// AskOwners adds to outlooks which code owners have not approved, where a rule requires that. It reads Git for each
// such pull request, and then runs a fixed number of statements for all.
func AskOwners(
	ctx context.Context, d *db.DB, repos *repo.Service, list []Candidate, found map[int64]*Outlook,
) error {
	owned := map[int64][]repo.Owned{}
	var in []repo.ID
	var owners []string
	var approvers []account.ID
	for _, c := range list {
		o := found[c.Pull]
		if o == nil || !o.CodeOwners || c.Tip == "" {
			continue
		}
		if err := c.findOwned(ctx, repos, o, owned); err != nil {
			return err
		}
		in, owners = append(in, c.Repo), append(owners, ownersOf(owned[c.Pull])...)
		approvers = append(approvers, o.needs.approvers()...)
	}
	if len(owners) == 0 {
		return nil
	}
	var known *codeowner.Known
	err := d.Read(ctx, func(tx *db.Tx) (err error) {
		known, err = codeowner.Resolve(tx, db.Unique(in), owners, db.Unique(approvers))
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range list {
		o := found[c.Pull]
		if missing := waiting(known.Missing(c.Repo, owned[c.Pull], o.approvers())); len(missing) > 0 {
			o.lack(missing...)
		}
	}
	return nil
}

// approvers returns who approves the pull request. o may be nil.
func (o *Outlook) approvers() []account.ID {
	if o == nil {
		return nil
	}
	return o.needs.approvers()
}

// lack notes that reviews of code owners are missing.
func (o *Outlook) lack(sentences ...string) {
	o.Missing = append(o.Missing, sentences...)
	o.Reviews, o.Reviewed = true, false
}

// findOwned finds which changed files have owners: of the merge if its result is known, as Judge does, else of what
// the pull request proposes.
func (c *Candidate) findOwned(
	ctx context.Context, repos *repo.Service, o *Outlook, owned map[int64][]repo.Owned,
) error {
	objects, release, err := repos.GitOf(ctx, c.Repo)
	if err != nil {
		return err
	}
	defer release()
	from, to := c.Tip, c.Result
	if to == "" {
		to = c.Head
		if from, err = objects.PullBase(ctx, c.Left, c.Head); err != nil {
			return err
		}
	}
	file, err := codeowner.Read(ctx, objects, c.Tip)
	if err != nil {
		return err
	}
	changed, whole, err := file.Changed(ctx, objects, from, to)
	if err != nil {
		return err
	}
	if !whole {
		o.lack(codeowner.TooMuch)
	}
	owned[c.Pull], o.Note, o.Asked = changed, file.Ignored, true
	return nil
}

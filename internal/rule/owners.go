package rule

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/codeowner"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// AskOwners adds to outlooks which code owners have not approved, where a rule requires that. It reads Git for each
// such pull request and the file once for each base, and then runs a fixed number of statements for all.
func AskOwners(
	ctx context.Context, d *db.DB, repos *repo.Service, list []Candidate, found map[int64]*Outlook,
) error {
	owned := map[int64][]repo.Owned{}
	open := opened{repos: repos, objects: map[repo.ID]*git.Repository{}, files: map[treeOf]*codeowner.File{}}
	defer open.close()
	var in []repo.ID
	var owners []string
	var approvers []account.ID
	for _, c := range list {
		o := found[c.Pull]
		if o == nil || !o.CodeOwners || c.Tip == "" {
			continue
		}
		if err := c.findOwned(ctx, &open, o, owned); err != nil {
			return err
		}
		in, owners = append(in, c.Repo), append(owners, ownersOf(owned[c.Pull])...)
		approvers = append(approvers, o.needs.approvers()...)
	}
	if len(owners) == 0 {
		return nil
	}
	known, err := db.Get(ctx, d, func(tx *db.Tx) (*codeowner.Known, error) {
		return codeowner.Resolve(tx, db.Unique(in), owners, db.Unique(approvers))
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
	o.Missing, o.Unready = append(o.Missing, sentences...), append(o.Unready, sentences...)
	o.Reviews, o.Reviewed = true, false
}

// findOwned finds which changed files have owners: of the merge if its result is known, as Judge does, else of what
// the pull request proposes.
func (c *Candidate) findOwned(
	ctx context.Context, open *opened, o *Outlook, owned map[int64][]repo.Owned,
) error {
	objects, err := open.git(ctx, c.Repo)
	if err != nil {
		return err
	}
	from, to := c.Tip, c.Result
	if to == "" {
		to = c.Head
		if from, err = objects.PullBase(ctx, c.Left, c.Head); err != nil {
			return err
		}
	}
	file, err := open.file(ctx, c)
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
	owned[c.Pull], o.Asked = changed, true
	o.note(file.Ignored)
	return nil
}

// opened are the repositories and the files that several pull requests need: each is opened and read once.
type opened struct {
	repos   *repo.Service
	objects map[repo.ID]*git.Repository
	release []func()
	files   map[treeOf]*codeowner.File
}

type treeOf struct {
	in repo.ID
	at git.SHA
}

func (o *opened) git(ctx context.Context, id repo.ID) (*git.Repository, error) {
	if known := o.objects[id]; known != nil {
		return known, nil
	}
	objects, release, err := o.repos.GitOf(ctx, id)
	if err == nil {
		o.objects[id], o.release = objects, append(o.release, release)
	}
	return objects, err
}

// file returns the file of the base of a pull request.
func (o *opened) file(ctx context.Context, c *Candidate) (*codeowner.File, error) {
	key := treeOf{c.Repo, c.Tip}
	if known := o.files[key]; known != nil {
		return known, nil
	}
	objects, err := o.git(ctx, c.Repo)
	if err != nil {
		return nil, err
	}
	f, err := codeowner.Read(ctx, objects, c.Tip)
	if err == nil {
		o.files[key] = f
	}
	return f, err
}

func (o *opened) close() {
	for _, release := range o.release {
		release()
	}
}

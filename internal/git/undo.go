package git

import (
	"context"
	"errors"

	"arbor/internal/errs"
	"arbor/internal/git/tree"
)

// Undo takes the change from the commit before to the commit after back on top of tip, as `git revert` does,
// and writes the commit that does so: c, with tip as its parent. It moves nothing.
//
// Errors: Conflict when what came since does not let the change go; Invalid when nothing of it is left, and
// as of Commit.Encode; those of MergeTree.
func (r *Repository) Undo(ctx context.Context, tip, before, after SHA, c Commit) (SHA, error) {
	list, _, err := r.linksOf(ctx, []SHA{tip, before, after})
	if err != nil {
		return "", err
	}
	p := &replay{ctx: ctx, repository: r, trees: tree.NewMerger(r.treeReader(ctx)),
		tip: tip, tree: list[0].tree, committer: c.Committer}
	defer p.end()
	made, err := p.apply(list[2].tree, list[1].tree)
	switch {
	case errors.Is(err, errConflict):
		return "", errs.New(errs.Conflict,
			"the change cannot be reverted: later commits changed the same lines")
	case err != nil:
		return "", err
	case made == p.tree:
		return "", errs.New(errs.Invalid, "there is nothing left to revert")
	}
	c.Tree, c.Parents = made, []SHA{tip}
	encoded, err := c.Encode()
	if err != nil {
		return "", err
	}
	if err := p.add(encoded); err != nil {
		return "", err
	}
	if err := p.write(); err != nil {
		return "", err
	}
	r.MarkWhole(encoded.SHA(), made)
	return encoded.SHA(), nil
}

// Landed returns the tip of a branch before head was merged into it as the commit at: its first parent for a
// merge or a squash; for a rebase the commit below those that were made of head's commits since base. Errors:
// those of Commit; Invalid for a commit without parents.
func (r *Repository) Landed(ctx context.Context, at, base, head SHA) (SHA, error) {
	commit, err := r.Commit(ctx, at)
	switch {
	case err != nil:
		return "", err
	case len(commit.Parents) == 0:
		return "", errs.New(errs.Invalid, "the first commit of a history cannot be reverted")
	case len(commit.Parents) > 1:
		return commit.Parents[0], nil
	}
	shas, err := r.replayed(ctx, base, head)
	if errs.Is(err, errs.TooLarge) {
		return commit.Parents[0], nil // too many for a rebase
	}
	if err != nil {
		return "", err
	}
	origins, err := r.Commits(ctx, shas)
	if err != nil {
		return "", err
	}
	below := commit.Parents[0]
	for n := len(origins) - 1; n >= 0; n-- {
		if !sameChange(origins[n], commit) {
			continue // the rebase left it out, or this is a squash
		}
		if len(commit.Parents) != 1 {
			break
		}
		below = commit.Parents[0]
		if commit, err = r.Commit(ctx, below); err != nil {
			return "", err
		}
	}
	return below, nil
}

// sameChange reports that a rebase may have made one commit of the other: author and message are the same.
func sameChange(a, b *Commit) bool {
	return a.Message == b.Message && a.Author.Name == b.Author.Name && a.Author.Email == b.Author.Email &&
		a.Author.When.Equal(b.Author.When)
}

package git

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"arbor/internal/errs"
	"arbor/internal/git/tree"
)

// MergeResult is what comes of merging one commit into another. Its tree is not
// in the repository before CommitMerge.
type MergeResult struct {
	Tree     SHA      // of both together; empty when they conflict
	UpToDate bool     // nothing to merge: head is in base's history
	Conflict bool     // they do not merge
	Paths    []string // in conflict, at most 300; none where the histories have no common ancestor

	objects []NewObject // of the tree, to be written
}

// MergeTree merges the commit head into the commit base as `git merge` does,
// without a work tree (merge drivers of .gitattributes do not count). It is a
// pure function of the two and moves nothing. It reads the trees on the way to
// what changed, and starts one process, `git merge-tree`, where both sides
// changed the same file, the merge base is far away or there are several. One
// thing is not git's: trees with modes that git writes no more stay as they are.
//
// Errors: NotFound and Invalid as of Commit; Unavailable when git takes longer
// than Options.ReadTimeout; TooLarge when it cannot merge, which is mostly that
// files changed on both sides are too large, and will not be otherwise next time.
func (r *Repository) MergeTree(ctx context.Context, base, head SHA) (*MergeResult, error) {
	if err := errors.Join(base.Check(), head.Check()); err != nil {
		return nil, err
	}
	ancestor, known, err := r.soleMergeBase(ctx, base, head)
	switch {
	case err != nil:
		return nil, err
	case !known:
		return r.mergeByGit(ctx, base, head)
	case ancestor == "":
		return &MergeResult{Conflict: true}, nil
	}
	list, _, err := r.linksOf(ctx, []SHA{ancestor, base, head})
	if err != nil {
		return nil, err
	}
	switch ancestor {
	case head:
		return &MergeResult{Tree: list[1].tree, UpToDate: true}, nil
	case base:
		return &MergeResult{Tree: list[2].tree}, nil
	}
	m := tree.NewMerger(r.treeReader(ctx))
	merged, err := m.Merge(list[0].tree, list[1].tree, list[2].tree)
	if errors.Is(err, tree.ErrNeedsGit) {
		return r.mergeByGit(ctx, base, head)
	}
	if err != nil {
		return nil, err
	}
	return &MergeResult{Tree: merged, objects: m.Objects}, nil
}

// mergeByGit merges in a process. If the result is the base's own tree, a
// second process may find that there was nothing to merge.
func (r *Repository) mergeByGit(ctx context.Context, base, head SHA) (*MergeResult, error) {
	s, err := r.newScratch()
	if err != nil {
		return nil, err
	}
	defer s.drop()
	o, err := s.merge(ctx, base, head)
	if errs.Is(err, errs.TooLarge) {
		// So does git end for histories that have nothing in common.
		if _, none := r.MergeBase(ctx, base, head); errs.Is(none, errs.NotFound) {
			return &MergeResult{Conflict: true}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if o.conflict {
		return &MergeResult{Conflict: true, Paths: o.paths}, nil
	}
	m := &MergeResult{Tree: o.tree}
	list, _, err := r.linksOf(ctx, []SHA{base})
	if err != nil {
		return nil, err
	}
	if list[0].tree == m.Tree {
		m.UpToDate, err = r.IsAncestor(ctx, head, base)
		return m, err
	}
	m.objects, err = s.gather(ctx, m.Tree)
	return m, err
}

// CommitMerge writes a commit of the merged tree, and the tree, durably and in
// one pack. It is for all kinds of merges: the parents are base and head for a
// merge, base alone for a squash (decision 37). Both have been merged with m and
// are whole. Error: Invalid as of Commit.Encode.
func (r *Repository) CommitMerge(ctx context.Context, m *MergeResult, c Commit) (SHA, error) {
	if m.Tree == "" {
		return "", errs.New(errs.Conflict, "the merge has conflicts")
	}
	c.Tree = m.Tree
	encoded, err := c.Encode()
	if err != nil {
		return "", err
	}
	shas, err := r.WriteObjects(ctx, append(slices.Clip(m.objects), encoded))
	if err != nil {
		return "", err
	}
	c.SHA = shas[len(shas)-1]
	r.MarkWhole(c.SHA, c.Tree)
	r.git.keepLinks(treeKey{r.git.state(r.dir), c.SHA}, newLinks(&c))
	return c.SHA, nil
}

// TestMerge merges head into base and writes the test merge commit: with a
// fixed author and the later parent's date, so that the same pair gives the same
// SHA everywhere (decision 56). The commit is empty if there is nothing to
// merge or it does not merge. Errors are those of MergeTree.
func (r *Repository) TestMerge(ctx context.Context, base, head SHA) (commit SHA, m *MergeResult, err error) {
	m, err = r.MergeTree(ctx, base, head)
	if err != nil || m.Conflict || m.UpToDate {
		return "", m, err
	}
	parents := []SHA{base, head}
	list, _, err := r.linksOf(ctx, parents)
	if err != nil {
		return "", nil, err
	}
	who := Signature{Name: "Arbor", Email: "noreply@users.noreply.arbor",
		When: time.Unix(max(list[0].when, list[1].when), 0).UTC()}
	commit, err = r.CommitMerge(ctx, m, Commit{Parents: parents, Author: who, Committer: who,
		Message: strings.Join([]string{"Merge", string(head), "into", string(base)}, " ") + "\n"})
	return commit, m, err
}

package remote

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/migration"
	"arbor/internal/review"
)

// AddOnLines writes the comments on lines of a pull request, with their places in its changes, and calls
// after with each.
func (s *Source) AddOnLines(
	ctx context.Context, of *migration.Issue, list []*migration.ReviewComment, after func(*migration.ReviewComment) error,
) error {
	slices.SortFunc(list, func(a, b *migration.ReviewComment) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), len(a.ID)-len(b.ID), cmp.Compare(a.ID, b.ID))
	})
	by := map[string][]*migration.ReviewComment{}
	for _, c := range list {
		by[c.Original.Commit] = append(by[c.Original.Commit], c)
	}
	for _, commit := range slices.Sorted(maps.Keys(by)) {
		if err := s.place(ctx, git.SHA(of.Pull.BaseSHA), git.SHA(commit), by[commit]); err != nil {
			return err
		}
	}
	for _, c := range list {
		if c.Current = c.Original; c.Original.Position == 0 { // outdated
			c.Current.Line = 0
		}
		if err := s.Out.Add(migration.ReviewComments, c); err != nil {
			return err
		}
		if err := after(c); err != nil {
			return err
		}
	}
	return nil
}

// place computes the positions of comments in the changes of a pull request up to a commit, since the API
// does not have them. A comment is outdated if the changes do not show its line, or if its commit is gone.
func (s *Source) place(ctx context.Context, base, commit git.SHA, list []*migration.ReviewComment) error {
	if base.Check() != nil || commit.Check() != nil {
		return nil
	}
	names := make([]string, len(list))
	for n, c := range list {
		names[n] = c.Path
	}
	objects := s.Objects()
	common, err := objects.PullBase(ctx, base, commit)
	var changes *diff.Changes
	if err == nil {
		changes, err = diff.FilesNamed(ctx, objects, common, commit, names)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		s.Leave("the places of comments on lines of the commit %s: %v", commit, err)
		return nil
	}
	for _, c := range list {
		for n := range changes.Files {
			if f := &changes.Files[n]; f.Path == c.Path {
				if position, hunk := review.Locate(f.Patch, c.Side == "LEFT", c.Original.Line); position != 0 {
					c.Original.Position, c.DiffHunk = position, hunk
				}
			}
		}
	}
	return nil
}

// Branch returns where a branch of the mirror is; empty: it has none of the name.
func (s *Source) Branch(name string) git.SHA {
	if s.branches == nil {
		s.branches = map[string]git.SHA{}
		for _, ref := range s.Mirror.Refs().List {
			s.branches[ref.Name] = ref.SHA
		}
	}
	return s.branches[git.Heads+name]
}

// Count counts commits and changes, as far as the commits are there: the API counts up to where the branch
// is now.
func (s *Source) Count(ctx context.Context, p *migration.Pull) error {
	base, head := git.SHA(p.BaseSHA), git.SHA(p.HeadSHA)
	if base.Check() != nil || head.Check() != nil {
		return nil
	}
	objects := s.Objects()
	_, commits, err := objects.PullCommits(ctx, base, head)
	var common git.SHA
	if err == nil {
		common, err = objects.PullBase(ctx, base, head)
	}
	var changes *diff.Changes
	if err == nil {
		changes, err = diff.Compare(ctx, objects, common, head, diff.Page(0, 0))
	}
	if err != nil { // they are gone
		return ctx.Err()
	}
	p.Commits, p.Files = int64(commits), int64(changes.Total)
	p.Additions, p.Deletions = int64(changes.Additions), int64(changes.Deletions)
	return nil
}

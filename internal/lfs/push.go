package lfs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
)

// Bounds of the commits that one update may add to a repository with locks of others, as those of rules.
const (
	maxCommits = 10_000
	maxTrees   = 50_000
)

// judged reports whether locks concern an update of a ref: it changes a branch. The branches of merge queues are judged
// when they are merged.
func judged(u *repo.RefUpdate) bool {
	return strings.HasPrefix(u.Name, git.Heads) && u.New != git.ZeroSHA && u.New != u.Old && !repo.IsQueueRef(u.Name)
}

// Prepare finds, before the transaction, which paths that others have locked the updates of a push change. It fills
// RefUpdate.Locked. All objects must be on disk.
func (s *Service) Prepare(ctx context.Context, p repo.Push) error {
	var locks []Lock
	var tip git.SHA
	var branch string
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if locks, err = allLocks(tx, p.RepoID); err != nil || len(locks) == 0 {
			return err
		}
		branch, tip, err = defaultBranch(tx, p.RepoID)
		return err
	})
	if err != nil {
		return err
	}
	for i := range p.Updates {
		u := &p.Updates[i]
		u.Locked = &repo.LockedPaths{}
		paths := map[string]bool{}
		for _, l := range locks {
			u.Locked.Newest = max(u.Locked.Newest, l.ID)
			if l.OwnerID != u.By {
				paths[l.Path] = true
			}
		}
		if !judged(u) || len(paths) == 0 {
			continue
		}
		not := []git.SHA{}
		if u.Old != git.ZeroSHA {
			not = append(not, u.Old)
		}
		if tip != "" && u.Name != git.Heads+branch {
			not = append(not, tip)
		}
		if err := s.prepare(ctx, p.RepoID, u, not, paths); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) prepare(
	ctx context.Context, id repo.ID, u *repo.RefUpdate, not []git.SHA, paths map[string]bool,
) error {
	objects, release, err := s.repos.GitOf(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	whole, err := changedFiles(ctx, objects, u.New, not, func(f *changedFile) bool {
		if paths[f.Path] && !slices.Contains(u.Locked.Paths, f.Path) {
			u.Locked.Paths = append(u.Locked.Paths, f.Path)
		}
		return true
	})
	u.Locked.TooMany = !whole
	return err
}

type changedFile = diff.File

// changedFiles calls fn for the files that commits of tip change which the histories of not lack, until it returns
// false. Of a merge those count that differ from all its parents. whole is false if there are too many commits or files.
func changedFiles(ctx context.Context, objects *git.Repository, tip git.SHA, not []git.SHA,
	fn func(*changedFile) bool,
) (whole bool, err error) {
	shas, err := objects.NewCommits(ctx, []git.SHA{tip}, not, maxCommits+1)
	if err != nil {
		return false, err
	}
	if whole = len(shas) <= maxCommits; !whole {
		return false, nil
	}
	trees := maxTrees
	for part := range slices.Chunk(shas, 200) {
		commits, err := objects.Commits(ctx, part)
		if err != nil {
			return false, err
		}
		for _, c := range commits {
			list, all, err := diff.OfCommit(ctx, objects, c, &trees)
			if err != nil {
				return false, err
			}
			whole = whole && all
			for n := range list {
				if !fn(&list[n]) {
					return whole, nil
				}
			}
		}
	}
	return whole, nil
}

// maxTold is how many locked paths the reason of a refusal names.
const maxTold = 10

// Judge notes in refused why locks refuse updates of branches. It is called in the transaction that moves the refs, with
// the repository's row locked, if the repository has locks. Error: repo.ErrUnprepared if Prepare has to look at the
// commits.
func (s *Service) Judge(tx *db.Tx, p *repo.Push, refused []error) error {
	for i := range p.Updates {
		u := &p.Updates[i]
		if refused[i] != nil || !judged(u) {
			continue
		}
		seen := int64(0)
		if u.Locked != nil {
			seen = u.Locked.Newest
		}
		if newer, err := lockedByOthers(tx, p.RepoID, u.By, seen); err != nil {
			return err
		} else if newer {
			return repo.ErrUnprepared
		}
		if u.Locked == nil {
			continue
		}
		problems, err := problemsOf(tx, p.RepoID, u)
		if err != nil {
			return err
		}
		if len(problems) > 0 {
			refused[i] = repo.NewRuleError(u.Name, problems)
		}
	}
	return nil
}

// problemsOf returns what locks have against an update that Prepare has looked at.
func problemsOf(tx *db.Tx, id repo.ID, u *repo.RefUpdate) (problems []string, err error) {
	if u.Locked.TooMany {
		if others, err := lockedByOthers(tx, id, u.By, 0); err != nil || !others {
			return nil, err
		}
		return []string{"This changes too much at once to be compared with locked files. Push it in parts."}, nil
	}
	if len(u.Locked.Paths) == 0 {
		return nil, nil
	}
	locks, err := locksOn(tx, id, u.Locked.Paths)
	if err != nil {
		return nil, err
	}
	for _, l := range locks {
		if l.OwnerID != u.By && len(problems) < maxTold {
			problems = append(problems, fmt.Sprintf("The file %q is locked by %s (git lfs locks).",
				errs.Clip(l.Path), l.Owner))
		}
	}
	return problems, nil
}

package lfs

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
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

// maxTold is how many locked paths of an update are looked for, and named.
const maxTold = 10

// judged reports whether locks concern an update of a ref: it changes a branch. The branches of merge queues are judged
// when they are merged.
func judged(u *repo.RefUpdate) bool {
	return strings.HasPrefix(u.Name, git.Heads) && u.New != git.ZeroSHA && u.New != u.Old && !repo.IsQueueRef(u.Name)
}

// Prepare finds, before the transaction, which paths that others have locked the updates of a push change. It fills
// RefUpdate.Locked. All objects must be on disk.
func (s *Service) Prepare(ctx context.Context, p repo.Push) error {
	i := &inspection{service: s, id: p.RepoID, theirs: map[account.ID]map[string]bool{}, release: func() {}}
	err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
		if i.locks, err = allLocks(tx, p.RepoID); err != nil || len(i.locks) == 0 {
			return err
		}
		i.branch, i.tip, err = defaultBranch(tx, p.RepoID)
		return err
	})
	if err != nil {
		return err
	}
	defer func() { i.release() }()
	for n := range p.Updates {
		if err := i.look(ctx, &p.Updates[n]); err != nil {
			return err
		}
	}
	return nil
}

// inspection is the work of Prepare.
type inspection struct {
	service *Service
	id      repo.ID
	locks   []Lock
	branch  string  // the default one
	tip     git.SHA // of it; empty: it has none
	theirs  map[account.ID]map[string]bool

	objects *git.Repository // nil: not opened
	release func()
}

// others returns the paths that others than an account have locked.
func (i *inspection) others(by account.ID) map[string]bool {
	paths := i.theirs[by]
	if paths == nil {
		paths = map[string]bool{}
		for _, l := range i.locks {
			if l.OwnerID != by {
				paths[l.Path] = true
			}
		}
		i.theirs[by] = paths
	}
	return paths
}

// look fills what is found about an update.
func (i *inspection) look(ctx context.Context, u *repo.RefUpdate) error {
	u.Locked = &repo.LockedPaths{}
	if n := len(i.locks); n > 0 {
		u.Locked.Newest = i.locks[n-1].ID
	}
	paths := i.others(u.By)
	if !judged(u) || len(paths) == 0 {
		return nil
	}
	if i.objects == nil {
		var err error
		if i.objects, i.release, err = i.service.repos.GitOf(ctx, i.id); err != nil {
			i.release = func() {}
			return err
		}
	}
	var not []git.SHA
	if u.Old != git.ZeroSHA {
		not = append(not, u.Old)
	}
	tip := i.tip
	if u.Name == git.Heads+i.branch {
		tip = ""
	}
	if tip != "" {
		not = append(not, tip)
	}
	whole, err := changedFiles(ctx, i.objects, u.New, not, func(f *changedFile) bool {
		if paths[f.Path] && !slices.Contains(u.Locked.Paths, f.Path) {
			u.Locked.Paths = append(u.Locked.Paths, f.Path)
		}
		return len(u.Locked.Paths) < maxTold
	})
	if u.Locked.TooMany = !whole; err != nil || !whole || u.Old == git.ZeroSHA {
		return err
	}
	return addReverted(ctx, i.objects, u, tip, paths)
}

// addReverted adds those of the paths whose files an update of a branch changes without a commit that does: by a merge
// that takes an older side, or by going back. What is then as at tip, of the default branch, does not count.
func addReverted(ctx context.Context, objects *git.Repository, u *repo.RefUpdate, tip git.SHA, paths map[string]bool,
) error {
	budget := maxTrees
	files, whole, err := diff.Differing(ctx, objects, u.Old, u.New, &budget)
	if err != nil {
		return err
	}
	if whole {
		among := map[string]bool{}
		for n := range files {
			if paths[files[n].Path] {
				among[files[n].Path] = true
			}
		}
		paths = among
	}
	for path := range paths {
		if len(u.Locked.Paths) >= maxTold {
			return nil
		}
		is, err := fileAt(ctx, objects, u.New, path)
		if err != nil {
			return err
		}
		moved := !slices.Contains(u.Locked.Paths, path)
		for _, commit := range []git.SHA{u.Old, tip} {
			if !moved || commit == "" {
				continue
			}
			was, err := fileAt(ctx, objects, commit, path)
			if err != nil {
				return err
			}
			moved = was != is
		}
		if moved {
			u.Locked.Paths = append(u.Locked.Paths, path)
		}
	}
	return nil
}

// fileAt returns the SHA of a file of a commit; empty: there is none.
func fileAt(ctx context.Context, objects *git.Repository, commit git.SHA, path string) (git.SHA, error) {
	tree, err := objects.PeelToTree(ctx, commit)
	if err != nil {
		return "", err
	}
	entry, err := objects.Lookup(ctx, tree, path)
	if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
		return "", nil
	}
	return entry.SHA, err
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

// Judge notes in refused why locks refuse updates of branches. It is called in the transaction that moves the refs, with
// the repository's row locked, if the repository has locks. Error: repo.ErrUnprepared if Prepare has to look at the
// commits.
func (s *Service) Judge(tx *db.Tx, p *repo.Push, refused []error) error {
	newest := map[account.ID]int64{} // of the locks of others
	var paths []string
	for i := range p.Updates {
		u := &p.Updates[i]
		if refused[i] != nil || !judged(u) {
			continue
		}
		id, known := newest[u.By]
		if !known {
			var err error
			if id, err = newestOfOthers(tx, p.RepoID, u.By); err != nil {
				return err
			}
			newest[u.By] = id
		}
		if u.Locked == nil && id > 0 || u.Locked != nil && id > u.Locked.Newest {
			return repo.ErrUnprepared
		}
		if u.Locked != nil {
			paths = append(paths, u.Locked.Paths...)
		}
	}
	slices.Sort(paths)
	locks, err := locksOn(tx, p.RepoID, slices.Compact(paths))
	if err != nil {
		return err
	}
	for i := range p.Updates {
		u := &p.Updates[i]
		if refused[i] != nil || !judged(u) || u.Locked == nil {
			continue
		}
		problems := problemsOf(u, locks)
		if u.Locked.TooMany && newest[u.By] > 0 && len(problems) == 0 {
			problems = []string{"This changes too much at once to be compared with locked files. Push it in parts."}
		}
		if len(problems) > 0 {
			refused[i] = repo.NewRuleError(u.Name, problems)
		}
	}
	return nil
}

// problemsOf returns what locks have against an update.
func problemsOf(u *repo.RefUpdate, locks []Lock) (problems []string) {
	for _, l := range locks {
		if l.OwnerID != u.By && slices.Contains(u.Locked.Paths, l.Path) {
			problems = append(problems, fmt.Sprintf("The file %q is locked by %s (git lfs locks).",
				errs.Clip(l.Path), l.Owner))
		}
	}
	return problems
}

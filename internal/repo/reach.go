package repo

import (
	"context"
	"maps"
	"slices"
	"sync"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
)

// An object that is not reachable from a repository's refs is hidden, even if its directory has it: from
// abbreviated and full SHAs and from fetches (decision 60). Callers with push access can read it by its
// full SHA for KeptFor (unreached.go).
//
// Only SHAs given by a client are checked; the objects below a checked commit or tree need no check. While
// Repo.Unreached is false, nothing is hidden and nothing is looked up. Otherwise a walk of commits or a
// reachSet decides, and the result is cached under the generation of the refs.
//
// Repo.Unreached is read with each access. It is set by deletions of refs, updates that are not
// fast-forwards, objects without a ref, pull requests, forks that link packs, publication, and rejected
// updates whose objects stay. It is never cleared.

// Reached reports whether all of the objects are reachable from the repository's refs, so that everyone
// with access to the repository may read them.
func (s *Service) Reached(ctx context.Context, a *Access, shas ...git.SHA) (bool, error) {
	gone, err := s.absent(ctx, a, shas, false)
	return err == nil && len(gone) == 0, err
}

// CheckNamed checks that objects named by the caller are not hidden from the caller. They may still not
// exist. Error: 404.
func (s *Service) CheckNamed(ctx context.Context, a *Access, shas ...git.SHA) error {
	gone, err := s.Absent(ctx, a, shas)
	if err == nil && len(gone) > 0 {
		err = errs.Absent()
	}
	return err
}

// Absent returns those of the objects that are hidden from the caller.
func (s *Service) Absent(ctx context.Context, a *Access, shas []git.SHA) (map[git.SHA]bool, error) {
	return s.absent(ctx, a, shas, a.Role >= account.Push)
}

// AbsentTo is Absent for git; nil if there is nothing to hide.
func (s *Service) AbsentTo(a *Access) git.Absent {
	if !a.Unreached {
		return nil
	}
	return func(ctx context.Context, shas []git.SHA) (map[git.SHA]bool, error) {
		return s.Absent(ctx, a, shas)
	}
}

// Known looks up objects named by the caller, in the order of shas. Hidden ones have an empty type, like
// missing ones.
func (s *Service) Known(ctx context.Context, a *Access, shas []git.SHA) ([]git.Object, error) {
	gone, err := s.Absent(ctx, a, shas)
	if err != nil {
		return nil, err
	}
	objects, release, err := s.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	known, err := objects.Known(ctx, shas)
	for i := range known {
		if gone[shas[i]] {
			known[i] = git.Object{}
		}
	}
	return known, err
}

// FindCommit returns the commit reachable from refs whose SHA begins with the digits. Errors: 404; 422 if
// there are several.
func (s *Service) FindCommit(ctx context.Context, a *Access, prefix string) (git.SHA, error) {
	objects, release, err := s.Git(ctx, a)
	if err != nil {
		return "", err
	}
	defer release()
	if !a.Unreached {
		return objects.FindCommit(ctx, prefix)
	}
	shas, err := objects.FindCommits(ctx, prefix)
	if err != nil {
		return "", err
	}
	gone, err := s.absent(ctx, a, shas, false)
	if err != nil {
		return "", err
	}
	shas = slices.DeleteFunc(shas, func(sha git.SHA) bool { return gone[sha] })
	switch len(shas) {
	case 0:
		return "", errs.Absent()
	case 1:
		return shas[0], nil
	default:
		return "", errs.Newf(errs.Invalid, "%s is ambiguous: several objects begin with it", prefix)
	}
}

// absent returns those of the objects that are unreachable; if recent is true, those recorded as recently
// unreachable are not included. Cheap checks come first.
func (s *Service) absent(
	ctx context.Context, a *Access, shas []git.SHA, recent bool,
) (map[git.SHA]bool, error) {
	if !a.Unreached || len(shas) == 0 {
		return nil, nil
	}
	refs, err := s.Refs(ctx, a)
	if err != nil {
		return nil, err
	}
	open, gone := s.reach.answered(a.ID, refs.Generation, shas)
	delete(open, git.EmptyTree) // git knows it everywhere
	for _, ref := range refs.List {
		if len(open) == 0 {
			break
		}
		delete(open, ref.SHA)
		delete(open, ref.Peeled)
	}
	s.reach.drop(a.ID, refs.Generation, open)
	if recent {
		if err := s.dropNoted(ctx, a.ID, open, gone); err != nil {
			return nil, err
		}
	}
	asked := maps.Clone(open)
	if err := s.findReached(ctx, a, refs, open); err != nil {
		return nil, err
	}
	s.reach.keep(a.ID, refs.Generation, asked, open)
	maps.Copy(gone, open)
	if recent {
		err = s.dropBehindNoted(ctx, a, refs, gone)
	}
	return gone, err
}

// findReached deletes from open the objects reachable from the refs.
func (s *Service) findReached(ctx context.Context, a *Access, refs git.Refs, open map[git.SHA]bool) error {
	if len(open) == 0 {
		return nil
	}
	objects, release, err := s.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	known, err := objects.Known(ctx, slices.Collect(maps.Keys(open)))
	if err != nil {
		return err
	}
	var left, commits []git.SHA // that are stored
	for _, o := range known {
		if o.Type != "" {
			left = append(left, o.SHA)
		}
		if o.Type == git.TypeCommit {
			commits = append(commits, o.SHA)
		}
	}
	if len(left) == 0 {
		return nil
	}
	set := s.reach.set(a.ID)
	if !set.built() {
		reached, err := objects.ReachedCommits(ctx, tipsOf(refs), commits)
		if err != nil {
			return err
		}
		left = slices.DeleteFunc(left, func(sha git.SHA) bool { return reached[sha] })
		maps.DeleteFunc(open, func(sha git.SHA, _ bool) bool { return reached[sha] })
	}
	reached, err := set.lookUp(ctx, objects, refs, left)
	s.reach.bound(set)
	maps.DeleteFunc(open, func(sha git.SHA, _ bool) bool { return reached[sha] })
	return err
}

// tipsOf returns the objects that refs refer to, without duplicates.
func tipsOf(refs git.Refs) []git.SHA {
	tips := make([]git.SHA, len(refs.List))
	for i, ref := range refs.List {
		tips[i] = ref.SHA
	}
	slices.Sort(tips)
	return slices.Compact(tips)
}

// reachCache caches the results for objects named by clients.
type reachCache struct {
	mu      sync.Mutex
	answers map[reachKey]bool // whether it is reachable
	sets    map[ID]*reachSet
}

type reachKey struct {
	repo       ID
	generation int64
	sha        git.SHA
}

// maxAnswers limits the cached results to about 4 MB.
const maxAnswers = 30_000

// answered splits objects into those without a cached result for the generation, and those known to be
// unreachable.
func (c *reachCache) answered(repo ID, generation int64, shas []git.SHA) (open, gone map[git.SHA]bool) {
	open, gone = make(map[git.SHA]bool, len(shas)), map[git.SHA]bool{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, sha := range shas {
		reached, known := c.answers[reachKey{repo, generation, sha}]
		if !known {
			open[sha] = true
		} else if !reached {
			gone[sha] = true
		}
	}
	return open, gone
}

func (c *reachCache) keep(repo ID, generation int64, asked, gone map[git.SHA]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answers == nil || len(c.answers)+len(asked) > maxAnswers {
		c.answers = map[reachKey]bool{}
	}
	for sha := range asked {
		if len(c.answers) < maxAnswers {
			c.answers[reachKey{repo, generation, sha}] = !gone[sha]
		}
	}
}

// set returns the set of a repository, which may be unfilled.
func (c *reachCache) set(repo ID) *reachSet {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sets == nil {
		c.sets = map[ID]*reachSet{}
	}
	set := c.sets[repo]
	if set == nil {
		set = newReachSet()
		c.sets[repo] = set
	}
	return set
}

// drop deletes from shas the objects that the set of the repository certainly contains, if it has this
// generation.
func (c *reachCache) drop(repo ID, generation int64, shas map[git.SHA]bool) {
	c.mu.Lock()
	set := c.sets[repo]
	c.mu.Unlock()
	if set != nil {
		set.drop(generation, shas)
	}
}

// bound drops all other sets if they have become too large in total.
func (c *reachCache) bound(last *reachSet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for _, set := range c.sets {
		total += set.size()
	}
	if total <= maxReached {
		return
	}
	maps.DeleteFunc(c.sets, func(_ ID, set *reachSet) bool { return set != last })
}

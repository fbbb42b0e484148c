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

// An object that no ref of a repository leads to is hidden, though its folder may hold
// it: from abbreviations, full SHAs and fetches (decision 60). Callers with push access find
// it by its full SHA for KeptFor (unreached.go).
//
// Only SHAs that a client names are checked; the objects below a checked commit or tree
// need no check. Nothing is looked up while Repo.Unreached is false, since then there is
// nothing to hide. Else answers come from a walk of commits, or from a reachSet, and are
// kept under the generation of the refs.
//
// Repo.Unreached is read with each access. It is set by deletions of refs and moves that are
// no fast-forwards, by objects without a ref, pull requests, forks that link packs, publication,
// and by refused moves whose objects stay. Nothing clears it.

// Reached reports whether refs of the repository lead to all of the objects, so
// that everybody with access to the repository finds them.
func (s *Service) Reached(ctx context.Context, a *Access, shas ...git.SHA) (bool, error) {
	gone, err := s.absent(ctx, a, shas, false)
	return err == nil && len(gone) == 0, err
}

// CheckNamed checks that objects which the caller named are not hidden from the caller;
// they may still not exist. Error: 404.
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

// Known looks up objects which the caller named, in the order of shas. Hidden ones have
// an empty type, like absent ones.
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

// FindCommit finds the one commit that refs lead to and whose SHA begins with the
// digits. Errors: 404; 422 when there are several.
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

// absent returns those of the objects that no ref leads to; with recent also no note of an
// unreached object. Cheap checks come first.
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

// findReached deletes the objects that refs lead to from open.
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

// tipsOf are the objects that refs name, each once.
func tipsOf(refs git.Refs) []git.SHA {
	tips := make([]git.SHA, len(refs.List))
	for i, ref := range refs.List {
		tips[i] = ref.SHA
	}
	slices.Sort(tips)
	return slices.Compact(tips)
}

// reachCache keeps the answers about objects that clients named.
type reachCache struct {
	mu      sync.Mutex
	answers map[reachKey]bool // whether it is reached
	sets    map[ID]*reachSet
}

type reachKey struct {
	repo       ID
	generation int64
	sha        git.SHA
}

// maxAnswers bounds the answers that are kept to about 4 MB.
const maxAnswers = 30_000

// answered splits objects into those that nobody has asked for yet under the
// generation and those that are known to be unreached.
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

// drop deletes the objects that the set of the repository surely holds, if there is one
// of this generation.
func (c *reachCache) drop(repo ID, generation int64, shas map[git.SHA]bool) {
	c.mu.Lock()
	set := c.sets[repo]
	c.mu.Unlock()
	if set != nil {
		set.drop(generation, shas)
	}
}

// bound drops all other sets when they have become too large together.
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

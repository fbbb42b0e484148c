package gitdata

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// commitsPerComparison is the default number of commits on a page of a comparison.
const commitsPerComparison = 250

// comparison is a parsed BASE...HEAD and its result.
type comparison struct {
	base, head    side
	direct        bool // "..": from base itself and not from the merge base
	mergeBase     git.SHA
	ahead, behind int
	commits       []git.SHA // of the page
	changes       *Changes  // none behind the first page
}

// Compared is a comparison with a page of the commits that its head has and its base lacks, and on the
// first page the files that differ.
type Compared struct {
	Comparison
	Commits []*CommitView // the oldest first
	More    bool          // commits follow the page
	Changes *Changes
}

// Compared returns the comparison of Compare with at most patches bytes of patches. 0 means GitHub's limit.
// Errors: those of Compare.
func (s *Service) Compared(
	ctx context.Context, a *repo.Access, basehead string, at web.Page, patches int,
) (*Compared, error) {
	c, err := s.comparison(ctx, basehead, a)
	if err != nil {
		return nil, s.orEmpty(ctx, a, err)
	}
	if err := s.compare(ctx, c, at, patches); err != nil {
		return nil, err
	}
	views, err := s.loadViews(ctx, c.head.at, c.commits)
	if err != nil {
		return nil, err
	}
	return &Compared{Comparison{Ahead: c.ahead, Behind: c.behind, Status: c.status()}, views,
			at.Number*at.Size < int64(c.ahead), c.changes},
		c.changes.hold(ctx)
}

// side is one of the two commits of a comparison.
type side struct {
	text string   // as in the address
	of   []string // the owner, and possibly the name, of another repository
	name string   // the revision there
	at   *repo.Access
	sha  git.SHA
}

// readComparison parses BASE...HEAD. Both default to the repository of a. Ref names cannot contain two
// consecutive dots. Error: 404.
func readComparison(text string, a *repo.Access) (*comparison, error) {
	c := &comparison{}
	base, head, ok := strings.Cut(text, "...")
	if !ok {
		c.direct = true
		if base, head, ok = strings.Cut(text, ".."); !ok {
			return nil, errs.Absent()
		}
	}
	c.base, c.head = readSide(base, a), readSide(head, a)
	if c.base.name == "" || c.head.name == "" {
		return nil, errs.Absent()
	}
	return c, nil
}

// readSide parses REVISION, OWNER:REVISION or OWNER:REPO:REVISION.
func readSide(text string, a *repo.Access) side {
	parts := strings.Split(text, ":")
	name := parts[len(parts)-1]
	switch {
	case len(parts) > 3:
		return side{}
	case len(parts) == 1, len(parts) == 2 && account.Fold(parts[0]) == account.Fold(a.Owner.Login):
		return side{text: name, name: name, at: a}
	}
	return side{text: text, name: name, of: parts[:len(parts)-1]}
}

// findRepo finds the repository of a side. Error: 404, also if it is not in the network of a or not visible
// to the caller.
func (s *Service) findRepo(ctx context.Context, c *side, a *repo.Access) (err error) {
	switch len(c.of) {
	case 1:
		c.at, err = s.network.ForkOf(ctx, a.Caller, a.NetworkID, c.of[0])
	case 2:
		c.at, err = s.network.InNetwork(ctx, a, c.of[0], c.of[1])
	}
	return err
}

// comparison parses an address and finds the repositories. Error: 404.
func (s *Service) comparison(ctx context.Context, text string, a *repo.Access) (*comparison, error) {
	c, err := readComparison(text, a)
	if err == nil {
		err = s.findRepo(ctx, &c.base, a)
	}
	if err == nil {
		err = s.findRepo(ctx, &c.head, a)
	}
	return c, err
}

// resolveBoth resolves the two commits.
func (s *Service) resolveBoth(ctx context.Context, c *comparison) (err error) {
	if c.base.sha, err = s.revision(ctx, c.base.at, c.base.name, true); err == nil {
		c.head.sha, err = s.revision(ctx, c.head.at, c.head.name, true)
	}
	return err
}

// compare finds the page of the commits and the changed files.
func (s *Service) compare(ctx context.Context, c *comparison, page web.Page, patches int) error {
	if err := s.resolveBoth(ctx, c); err != nil {
		return err
	}
	objects, release, err := s.repos.GitOfBoth(ctx, c.head.at, c.base.at)
	if err != nil {
		return err
	}
	defer release()
	g, both := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		c.mergeBase, err = objects.MergeBase(both, c.base.sha, c.head.sha)
		return err
	})
	g.Go(func() (err error) {
		skip := int(min(page.Offset(), maxSkipped))
		c.behind, c.ahead, c.commits, err = objects.Diverged(both, c.base.sha, c.head.sha, skip,
			int(page.Size))
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	c.changes = &Changes{Changes: &diff.Changes{}, In: c.head.at, From: c.from(), To: c.head.sha}
	if page.Number == 1 && (c.direct || c.mergeBase != c.head.sha) {
		c.changes.Changes, err = diff.Compare(ctx, objects, c.from(), c.head.sha, filePage(0, filesPerPage, patches))
	}
	return err
}

// from returns the tree that the head's is compared with.
func (c *comparison) from() git.SHA {
	if c.direct {
		return c.base.sha
	}
	return c.mergeBase
}

func (c *comparison) status() string {
	switch {
	case c.ahead > 0 && c.behind > 0:
		return "diverged"
	case c.ahead > 0:
		return "ahead"
	case c.behind > 0:
		return "behind"
	default:
		return "identical"
	}
}

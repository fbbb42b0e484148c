package gitdata

import (
	"context"
	"io"
	"net/http"
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

// comparisonJSON is GitHub's commit-comparison.
type comparisonJSON struct {
	URL          string         `json:"url"`
	HTMLURL      string         `json:"html_url"`
	PermalinkURL string         `json:"permalink_url"`
	DiffURL      string         `json:"diff_url"`
	PatchURL     string         `json:"patch_url"`
	Base         *CommitPayload `json:"base_commit"`
	MergeBase    *CommitPayload `json:"merge_base_commit"`
	Status       string         `json:"status"`
	Ahead        int            `json:"ahead_by"`
	Behind       int            `json:"behind_by"`
	Total        int            `json:"total_commits"`
}

// compareAnswer is a comparison with its commits and files.
type compareAnswer struct {
	payload comparisonJSON
	commits commitList // after the merge base
	files   fileList
}

func (c compareAnswer) render(ctx context.Context, out *web.Output) error {
	err := c.commits.api.eachCommit(ctx, out, c.commits.access, c.commits.shas,
		func(n int, commit *CommitPayload) error {
			if n > 0 {
				return out.Item(n-1, commit)
			}
			c.payload.MergeBase = commit
			err := out.Open(c.payload)
			out.Member("commits")
			out.Buf = append(out.Buf, '[')
			return err
		})
	if err != nil {
		return err
	}
	out.Buf = append(out.Buf, ']')
	out.Member("files")
	err = c.files.render(ctx, out)
	out.Close()
	return err
}

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
	return &Compared{Comparison{c.ahead, c.behind, c.status()}, views, at.Number*at.Size < int64(c.ahead), c.changes},
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

// GET /repos/{owner}/{repo}/compare/{basehead...}
//
// Compare returns the commits that head has and base lacks, oldest first, 250 per page, and on the first
// page up to 300 files changed between the merge base and the head. BASE..HEAD compares the two trees
// directly. Both may be branches, tags and SHAs (also abbreviated, decision 50), and may be in another
// repository of the network: OWNER:BRANCH, OWNER:REPO:BRANCH. The media types diff and patch return just
// these (decision 30).
func (api *API) Compare(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.s.comparison(r.Context(), web.Param(r, "basehead"), a)
	if err != nil {
		return api.s.orEmpty(r.Context(), a, err)
	}
	switch kind := web.From(r.Context()).Media.Kind; kind {
	case "diff", "patch":
		return api.compareAs(w, r, c, kind)
	}
	base, head := named(c.base.name, true), named(c.head.name, true)
	on := basis{refs: base.refs || head.refs, people: true, named: append(base.named, head.named...)}
	on.elsewhere = c.base.at.ID != a.ID || c.head.at.ID != a.ID
	return api.cached(w, r, a, on, func(ctx context.Context) (any, error) {
		page := web.ReadPage(r)
		if web.QueryOf(r).Get("per_page") == "" {
			page.Size = commitsPerComparison
		}
		if err := api.s.compare(ctx, c, page, 0); err != nil {
			return nil, err
		}
		web.Link(w, r, page, int64(c.ahead))
		return api.renderComparison(ctx, a, c)
	})
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

// permanent returns a name of the side's commit that does not change with its branch.
func (s *side) permanent(a *repo.Access) string {
	text := s.at.Owner.Login + ":"
	if s.at.ID != a.ID {
		text += s.at.Name + ":"
	}
	return text + string(s.sha[:7])
}

// renderComparison renders the comparison. Its commits and files have addresses in the head's repository.
func (api *API) renderComparison(ctx context.Context, a *repo.Access, c *comparison) (any, error) {
	commit, err := api.s.commitView(ctx, c.base.at, c.base.sha)
	if err != nil {
		return nil, err
	}
	p := newPlace(ctx, a)
	dots := "..."
	if c.direct {
		dots = ".."
	}
	spec := "/compare/" + escapePath(c.base.text) + dots + escapePath(c.head.text)
	payload := comparisonJSON{
		URL: p.api + spec, HTMLURL: p.page + spec,
		PermalinkURL: p.page + "/compare/" + c.base.permanent(a) + dots + c.head.permanent(a),
		DiffURL:      p.page + spec + ".diff", PatchURL: p.page + spec + ".patch",
		Base: newPlace(ctx, c.base.at).commit(commit), Status: c.status(), Ahead: c.ahead,
		Behind: c.behind, Total: c.ahead,
	}
	shas := append([]git.SHA{c.mergeBase}, c.commits...)
	return compareAnswer{payload, commitList{api, c.head.at, shas}, fileList{c.changes}}, nil
}

// compareAs returns a comparison as a diff, or as the patches of its commits.
func (api *API) compareAs(w http.ResponseWriter, r *http.Request, c *comparison, kind string) error {
	ctx := r.Context()
	if err := api.s.resolveBoth(ctx, c); err != nil {
		return err
	}
	objects, release, err := api.s.repos.GitOfBoth(ctx, c.head.at, c.base.at)
	if err != nil {
		return err
	}
	defer release()
	if c.mergeBase, err = objects.MergeBase(ctx, c.base.sha, c.head.sha); err != nil {
		return err
	}
	if web.NotModified(w, r, `W/"`+string(c.from())+"-"+string(c.head.sha)+"-"+kind+`"`) {
		return nil
	}
	return stream(w, r, func(to io.Writer) error {
		if kind == "diff" {
			return diff.Write(ctx, to, objects, c.from(), c.head.sha)
		}
		return diff.WritePatches(ctx, to, objects, c.head.sha, c.base.sha)
	})
}

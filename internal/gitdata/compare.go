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

// commitsPerComparison is the number of commits of a page of a comparison, when
// the request does not say.
const commitsPerComparison = 250

// comparisonJSON is GitHub's commit-comparison.
type comparisonJSON struct {
	URL          string      `json:"url"`
	HTMLURL      string      `json:"html_url"`
	PermalinkURL string      `json:"permalink_url"`
	DiffURL      string      `json:"diff_url"`
	PatchURL     string      `json:"patch_url"`
	Base         *commitJSON `json:"base_commit"`
	MergeBase    *commitJSON `json:"merge_base_commit"`
	Status       string      `json:"status"`
	Ahead        int         `json:"ahead_by"`
	Behind       int         `json:"behind_by"`
	Total        int         `json:"total_commits"`
}

// compareAnswer is a comparison with its commits and files.
type compareAnswer struct {
	payload comparisonJSON
	commits commitList // behind the base and the merge base
	files   fileList
}

func (c compareAnswer) render(ctx context.Context, out *web.Output) error {
	err := c.commits.api.eachCommit(ctx, out, c.commits.access, c.commits.shas,
		func(n int, commit *commitJSON) error {
			switch n {
			case 0:
				c.payload.Base = commit
				return nil
			case 1:
				c.payload.MergeBase = commit
				err := out.Open(c.payload)
				out.Member("commits")
				out.Buf = append(out.Buf, '[')
				return err
			}
			return out.Item(n-2, commit)
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

// comparison is what an address asks to compare.
type comparison struct {
	base, head       string  // as the client named them
	direct           bool    // "..": from base itself, not from the merge base
	baseSHA, headSHA git.SHA // what they are
	mergeBase        git.SHA
	ahead, behind    int
	commits          []git.SHA
}

// GET /repos/{owner}/{repo}/compare/{basehead...}
//
// Compare answers what head has that base lacks: commits, the oldest first, 250
// a page, and on the first page up to 300 files, from the merge base to the
// head. BASE..HEAD compares the two trees themselves. Both may be branches,
// tags, SHAs (also abbreviated, decision 50) and OWNER:BRANCH of this
// repository. The media types diff and patch give those alone (decision 30).
func (api *API) Compare(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := readComparison(web.Param(r, "basehead"), a)
	if err != nil {
		return api.orEmpty(r.Context(), a, err)
	}
	switch kind := web.From(r.Context()).Media.Kind; kind {
	case "diff", "patch":
		return api.compareAs(w, r, a, c, kind)
	}
	base, head := named(c.base, true), named(c.head, true)
	on := basis{refs: base.refs || head.refs, people: true, named: append(base.named, head.named...)}
	return api.cached(w, r, a, on, func(ctx context.Context) (any, error) { return api.compare(ctx, w, r, a, c) })
}

// readComparison splits BASE...HEAD. No ref's name has two dots in a row.
func readComparison(text string, a *repo.Access) (*comparison, error) {
	c := &comparison{}
	var ok bool
	if c.base, c.head, ok = strings.Cut(text, "..."); !ok {
		c.direct = true
		if c.base, c.head, ok = strings.Cut(text, ".."); !ok {
			return nil, errs.Absent()
		}
	}
	for _, side := range []*string{&c.base, &c.head} {
		owner, name, has := strings.Cut(*side, ":")
		if has {
			if account.Fold(owner) != account.Fold(a.Owner.Login) {
				return nil, errs.Absent()
			}
			*side = name
		}
		if *side == "" {
			return nil, errs.Absent()
		}
	}
	return c, nil
}

// resolveBoth finds the two commits.
func (api *API) resolveBoth(ctx context.Context, a *repo.Access, c *comparison) (err error) {
	if c.baseSHA, err = api.revision(ctx, a, c.base, true); err == nil {
		c.headSHA, err = api.revision(ctx, a, c.head, true)
	}
	return err
}

func (api *API) compare(ctx context.Context, w http.ResponseWriter, r *http.Request, a *repo.Access, c *comparison) (any, error) {
	if err := api.resolveBoth(ctx, a, c); err != nil {
		return nil, err
	}
	page := web.ReadPage(r)
	if web.QueryOf(r).Get("per_page") == "" {
		page.Size = commitsPerComparison
	}
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	g, both := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		c.mergeBase, err = objects.MergeBase(both, c.baseSHA, c.headSHA)
		return err
	})
	g.Go(func() (err error) {
		skip := int(min(page.Offset(), maxSkipped))
		c.behind, c.ahead, c.commits, err = objects.Diverged(both, c.baseSHA, c.headSHA, skip, int(page.Size))
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	changes := &diff.Changes{}
	if page.Number == 1 && c.mergeBase != c.headSHA || c.direct && page.Number == 1 {
		if changes, err = diff.Compare(ctx, objects, c.from(), c.headSHA, filePage(ctx, 0, filesPerPage)); err != nil {
			return nil, err
		}
	}
	web.Link(w, r, page, int64(c.ahead))
	return api.renderComparison(ctx, a, c, changes), nil
}

// from is the tree that the head's is compared with.
func (c *comparison) from() git.SHA {
	if c.direct {
		return c.baseSHA
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

func (api *API) renderComparison(
	ctx context.Context, a *repo.Access, c *comparison, changes *diff.Changes,
) compareAnswer {
	p := newPlace(ctx, a)
	dots := "..."
	if c.direct {
		dots = ".."
	}
	spec := "/compare/" + escapePath(c.base) + dots + escapePath(c.head)
	owner := a.Owner.Login
	payload := comparisonJSON{
		URL: p.api + spec, HTMLURL: p.page + spec,
		PermalinkURL: p.page + "/compare/" + owner + ":" + string(c.baseSHA[:7]) + dots + owner + ":" + string(c.headSHA[:7]),
		DiffURL:      p.page + spec + ".diff", PatchURL: p.page + spec + ".patch",
		Status: c.status(), Ahead: c.ahead, Behind: c.behind, Total: c.ahead,
	}
	shas := append([]git.SHA{c.baseSHA, c.mergeBase}, c.commits...)
	return compareAnswer{payload, commitList{api, a, shas}, fileList{p, changes, c.headSHA, c.from()}}
}

// compareAs answers a comparison as a diff, or as the patches of its commits.
func (api *API) compareAs(w http.ResponseWriter, r *http.Request, a *repo.Access, c *comparison, kind string) error {
	ctx := r.Context()
	if err := api.resolveBoth(ctx, a, c); err != nil {
		return err
	}
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	if c.mergeBase, err = objects.MergeBase(ctx, c.baseSHA, c.headSHA); err != nil {
		return err
	}
	if web.NotModified(w, r, `W/"`+string(c.from())+"-"+string(c.headSHA)+"-"+kind+`"`) {
		return nil
	}
	return stream(w, r, func(to io.Writer) error {
		if kind == "diff" {
			return diff.Write(ctx, to, objects, c.from(), c.headSHA)
		}
		return diff.WritePatches(ctx, to, objects, c.headSHA, c.baseSHA)
	})
}

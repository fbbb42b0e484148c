package gitdata

import (
	"context"
	"io"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// CompareText serves BASE...HEAD.diff and BASE...HEAD.patch, the value of {basehead}, for diff_url and
// patch_url (decision 30). Package page has the route.
func (api *API) CompareText(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	text := web.Param(r, "basehead")
	for _, kind := range [...]string{"diff", "patch"} {
		if spec, ok := strings.CutSuffix(text, "."+kind); ok {
			c, err := api.s.comparison(r.Context(), spec, a)
			if err != nil {
				return err
			}
			return api.compareAs(w, r, c, kind)
		}
	}
	return errs.Absent()
}

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

// permanent returns a name of the side's commit that does not change with its branch.
func (s *side) permanent(a *repo.Access) string {
	text := s.at.Owner.Login + ":"
	if s.at.ID != a.ID {
		text += s.at.Name + ":"
	}
	return text + string(s.sha[:7])
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

// RangeCommits returns a page of the commits, oldest first, at most 250.
func (api *API) RangeCommits(w http.ResponseWriter, r *http.Request, a *repo.Access, g Range) error {
	return api.cached(w, r, a, basis{people: true, pair: g.String()}, func(ctx context.Context) (any, error) {
		shas, err := api.s.rangeCommits(ctx, a, g)
		if err != nil {
			return nil, err
		}
		return commitList{api, a, web.Cut(w, r, shas)}, nil
	})
}

// RangeFiles returns a page of the files changed since the merge base.
func (api *API) RangeFiles(w http.ResponseWriter, r *http.Request, a *repo.Access, g Range) error {
	return api.cached(w, r, a, basis{pair: g.String()}, func(ctx context.Context) (any, error) {
		page := web.ReadPage(r)
		changes, err := api.s.rangeChanges(ctx, a, g, page, 0)
		if err != nil {
			return nil, err
		}
		web.Link(w, r, page, int64(min(changes.Total, diff.MaxFiles)))
		return fileList{changes}, nil
	})
}

// RangeText answers the changes since the merge base as a diff, or the commits
// as patches (decision 30).
func (api *API) RangeText(
	w http.ResponseWriter, r *http.Request, a *repo.Access, g Range, kind string,
) error {
	if web.NotModified(w, r, `W/"`+g.String()+"-"+kind+`"`) {
		return nil
	}
	ctx := r.Context()
	objects, release, err := api.s.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	common, err := objects.PullBase(ctx, g.Base, g.Head)
	if err != nil {
		return err
	}
	return stream(w, r, func(to io.Writer) error {
		if kind == "diff" {
			return diff.Write(ctx, to, objects, common, g.Head)
		}
		return diff.WritePatches(ctx, to, objects, g.Head, g.Base)
	})
}

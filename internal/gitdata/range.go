package gitdata

import (
	"context"
	"io"
	"net/http"

	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Range is the base and head commit of a pull request. Both are immutable, so what is rendered of them is
// cached (decision 39).
type Range struct{ Base, Head git.SHA }

func (g Range) String() string { return string(g.Base) + ".." + string(g.Head) }

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

// AnswerCommit writes a commit that was just created, as in lists.
func (api *API) AnswerCommit(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, sha git.SHA,
) error {
	c, err := api.s.commitView(r.Context(), a, sha)
	if err != nil {
		return err
	}
	return web.JSON(w, r, status, newPlace(r.Context(), a).commit(c))
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

// rangeChanges compares a page of the files that changed since the merge base, see filePage.
func (s *Service) rangeChanges(
	ctx context.Context, a *repo.Access, g Range, at web.Page, patches int,
) (*Changes, error) {
	objects, release, err := s.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	common, err := objects.PullBase(ctx, g.Base, g.Head)
	if err != nil {
		return nil, err
	}
	changes, err := diff.Compare(ctx, objects, common, g.Head, filePage(at.Offset(), at.Size, patches))
	return &Changes{Changes: changes, In: a, From: common, To: g.Head}, err
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

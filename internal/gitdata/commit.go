package gitdata

import (
	"context"
	"io"
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/git/diff"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// filesPerPage is the default number of files of a commit or comparison.
const filesPerPage = 300

// GET /repos/{owner}/{repo}/git/commits/{sha}
//
// GetGitCommit returns a commit as a Git object, by its full SHA.
func (api *API) GetGitCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	sha, err := git.ParseSHA(web.Param(r, "sha"))
	if err != nil {
		return api.orEmpty(r.Context(), a, errs.Absent())
	}
	return api.cached(w, r, a, signed(sha), func(ctx context.Context) (any, error) {
		var c *git.Commit
		err := api.repos.CheckNamed(ctx, a, sha)
		if err == nil {
			c, err = api.commit(ctx, a, sha)
		}
		if errs.Is(err, errs.NotFound) || errs.Is(err, errs.Invalid) {
			return nil, api.orEmpty(ctx, a, errs.Absent())
		}
		if err != nil {
			return nil, err
		}
		verified, err := api.verifyCommit(ctx, c)
		if err != nil {
			return nil, err
		}
		dated(w, c.Committer)
		return large{newPlace(ctx, a).gitCommit(c, verified), sizeOf(c)}, nil
	})
}

// GET /repos/{owner}/{repo}/commits/{ref...}
//
// GetCommit returns a commit and its changed files: 300 per page, at most 3,000, each with its patch unless
// that is binary or longer than 3,000 lines. The ref is a branch, a tag or a SHA, which may be abbreviated
// (decision 50); an unknown one is a 422, as at GitHub, and an address below a commit a 404. The media
// types diff, patch and sha return just these.
func (api *API) GetCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.beyondCommit(r, a, api.getCommit(w, r, a))
}

func (api *API) getCommit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name := web.Param(r, "ref")
	switch kind := web.From(r.Context()).Media.Kind; kind {
	case "diff", "patch", "sha":
		return api.commitAs(w, r, a, name, kind)
	}
	return api.cached(w, r, a, named(name, true), func(ctx context.Context) (any, error) {
		return api.answerCommit(ctx, w, r, a, name)
	})
}

// CommitNamed resolves a branch, a tag or a SHA, which may be abbreviated (decision 50), to a commit.
// Errors: 409 for an empty repository; 422 if there is no such commit, as at GitHub.
func (api *API) CommitNamed(ctx context.Context, a *repo.Access, name string) (git.SHA, error) {
	sha, err := api.revision(ctx, a, name, true)
	if errs.Is(err, errs.NotFound) {
		return "", errs.Newf(errs.Invalid, "No commit found for SHA: %s", name)
	}
	return sha, err
}

// commitView reads a commit with the accounts behind it.
func (api *API) commitView(ctx context.Context, a *repo.Access, sha git.SHA) (*CommitView, error) {
	c, err := api.commit(ctx, a, sha)
	if err != nil {
		return nil, err
	}
	views, err := api.newViews(ctx, a, c)
	if err != nil {
		return nil, err
	}
	return views[0], nil
}

// commit reads a commit.
func (api *API) commit(ctx context.Context, a *repo.Access, sha git.SHA) (*git.Commit, error) {
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	return objects.Commit(ctx, sha)
}

// FullCommit is a commit with a page of the files that it changes.
type FullCommit struct {
	*CommitView
	Changes *Changes
}

// FullCommit reads the commit of a name, with at most so many bytes of patches; 0: as many as GitHub gives. Errors:
// those of CommitNamed.
func (api *API) FullCommit(
	ctx context.Context, a *repo.Access, name string, at web.Page, patches int,
) (*FullCommit, error) {
	c, err := api.fullCommit(ctx, a, name, at, patches)
	if err != nil {
		return nil, err
	}
	if err := hold(ctx, sizeOf(c.Commit)); err != nil {
		return nil, err
	}
	return c, c.Changes.hold(ctx)
}

// fullCommit is FullCommit for a caller that asks for the memory itself.
func (api *API) fullCommit(
	ctx context.Context, a *repo.Access, name string, at web.Page, patches int,
) (*FullCommit, error) {
	sha, err := api.CommitNamed(ctx, a, name)
	if err != nil {
		return nil, err
	}
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return nil, err
	}
	defer release()
	c, err := objects.Commit(ctx, sha)
	if err != nil {
		return nil, err
	}
	changes, err := diff.Compare(ctx, objects, parentOf(c), sha,
		filePage(min(at.Number-1, diff.MaxFiles)*at.Size, at.Size, patches))
	if err != nil {
		return nil, err
	}
	views, err := api.newViews(ctx, a, c)
	if err != nil {
		return nil, err
	}
	return &FullCommit{views[0], &Changes{Changes: changes, In: a, From: parentOf(c), To: sha}}, nil
}

// answerCommit renders a commit with a page of its files.
func (api *API) answerCommit(
	ctx context.Context, w http.ResponseWriter, r *http.Request, a *repo.Access, name string,
) (any, error) {
	page := web.ReadPage(r)
	if web.QueryOf(r).Get("per_page") == "" {
		page.Size = filesPerPage
	}
	c, err := api.fullCommit(ctx, a, name, page, 0)
	if err != nil {
		return nil, err
	}
	dated(w, c.Committer)
	web.Link(w, r, page, int64(min(c.Changes.Total, diff.MaxFiles)))
	out := newPlace(ctx, a).commit(c.CommitView)
	added, removed := c.Changes.Additions, c.Changes.Deletions
	out.Stats = &statsJSON{added + removed, added, removed}
	return commitAnswer{c.Commit, out, fileList{c.Changes}}, nil
}

// parentOf returns the object that a commit is compared with: its first parent, or the empty tree.
func parentOf(c *git.Commit) git.SHA {
	if len(c.Parents) == 0 {
		return git.EmptyTree
	}
	return c.Parents[0]
}

// commitAs returns a commit as a diff, as a patch, or just its SHA.
func (api *API) commitAs(w http.ResponseWriter, r *http.Request, a *repo.Access, name, kind string) error {
	ctx := r.Context()
	sha, err := api.CommitNamed(ctx, a, name)
	if err != nil {
		return err
	}
	if kind == "sha" {
		return text(w, r, []byte(sha), `W/"`+string(sha)+`"`)
	}
	objects, release, err := api.repos.Git(ctx, a)
	if err != nil {
		return err
	}
	defer release()
	c, err := objects.Commit(ctx, sha)
	if err != nil {
		return err
	}
	if web.NotModified(w, r, `W/"`+string(sha)+"-"+kind+`"`) {
		return nil
	}
	return stream(w, r, func(to io.Writer) error {
		if kind == "diff" {
			return diff.Write(ctx, to, objects, parentOf(c), sha)
		}
		return diff.WritePatches(ctx, to, objects, sha, c.Parents[:min(1, len(c.Parents))]...)
	})
}

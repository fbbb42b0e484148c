package pull

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// brought is what the pull request brings, from where its base was when its head
// was last new: so a merged one still shows it.
func (p *Pull) brought() gitdata.Range { return gitdata.Range{Base: p.BaseSHA, Head: p.HeadSHA} }

// GET /repos/{owner}/{repo}/pulls/{number}/commits
//
// ListCommits answers a page of the commits, oldest first, at most 250 in all
// (decision 39). Error: 404.
func (api *API) ListCommits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, _, err := api.find(r, a)
	if err != nil {
		return err
	}
	return api.git.RangeCommits(w, r, a, p.brought())
}

// GET /repos/{owner}/{repo}/pulls/{number}/files
//
// ListFiles answers a page of the changed files (decision 39). Error: 404.
func (api *API) ListFiles(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, _, err := api.find(r, a)
	if err != nil {
		return err
	}
	return api.git.RangeFiles(w, r, a, p.brought())
}

func (api *API) writeText(w http.ResponseWriter, r *http.Request, a *repo.Access, p *Pull, kind string) error {
	return api.git.RangeText(w, r, a, p.brought(), kind)
}

// GET /{owner}/{repo}/pull/{file}
//
// Text answers N.diff and N.patch, where diff_url and patch_url lead (decision
// 30). Error: 404.
func (api *API) Text(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name, kind, _ := strings.Cut(web.Param(r, "file"), ".")
	if kind != "diff" && kind != "patch" {
		return errs.Absent()
	}
	web.From(r.Context()).SetParam("number", name)
	p, _, err := api.find(r, a)
	if err != nil {
		return err
	}
	return api.writeText(w, r, a, p, kind)
}

// GET /repos/{owner}/{repo}/pulls/{number}/merge
//
// CheckMerged answers 204 when the pull request is merged, else 404 without a
// body (decisions 35, 52).
func (api *API) CheckMerged(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, _, err := api.find(r, a)
	if err != nil {
		return err
	}
	if !p.Merged() {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	return web.NoContent(w)
}

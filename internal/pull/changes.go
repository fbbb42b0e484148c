package pull

import (
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/gitdata"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Range is what the pull request brings, from where its base was when its head
// was last new: so a merged one still shows it.
func (p *Pull) Range() gitdata.Range { return gitdata.Range{Base: p.BaseSHA, Head: p.HeadSHA} }

// commitRange returns the range of the pull request with the number {number}. Error: 404.
func (api *API) commitRange(r *http.Request, a *repo.Access) (gitdata.Range, error) {
	n, err := web.Number(r, "number")
	if err != nil {
		return gitdata.Range{}, err
	}
	p, _, err := api.s.Find(r.Context(), a, n)
	if err != nil {
		return gitdata.Range{}, err
	}
	return p.Range(), nil
}

// GET /repos/{owner}/{repo}/pulls/{number}/commits
//
// ListCommits lists the commits, oldest first, at most 250 in total (decision 39). Error: 404.
func (api *API) ListCommits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	g, err := api.commitRange(r, a)
	if err != nil {
		return err
	}
	return api.files.RangeCommits(w, r, a, g)
}

// GET /repos/{owner}/{repo}/pulls/{number}/files
//
// ListFiles lists the changed files (decision 39). Error: 404.
func (api *API) ListFiles(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	g, err := api.commitRange(r, a)
	if err != nil {
		return err
	}
	return api.files.RangeFiles(w, r, a, g)
}

func (api *API) writeText(w http.ResponseWriter, r *http.Request, a *repo.Access, kind string) error {
	g, err := api.commitRange(r, a)
	if err != nil {
		return err
	}
	return api.files.RangeText(w, r, a, g, kind)
}

// Text serves N.diff and N.patch, the value of {file}, for diff_url and patch_url (decision 30). Package
// page holds the route. Error: 404.
func (api *API) Text(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	name, kind, _ := strings.Cut(web.Param(r, "file"), ".")
	if kind != "diff" && kind != "patch" {
		return errs.Absent()
	}
	web.From(r.Context()).SetParam("number", name)
	return api.writeText(w, r, a, kind)
}

// GET /repos/{owner}/{repo}/pulls/{number}/merge
//
// CheckMerged returns 204 if the pull request is merged, else 404 without a body (decisions 35, 52).
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

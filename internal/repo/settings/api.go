package settings

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Longest texts of a repository, in code points, as at GitHub.
const (
	maxDescription = 350
	maxHomepage    = 255
	maxBranch      = 255
)

// POST /user/repos
//
// CreateOwn creates a repository for the caller.
func (api *API) CreateOwn(w http.ResponseWriter, r *http.Request) error {
	return api.create(w, r, account.CallerFrom(r.Context()).Login)
}

// POST /orgs/{org}/repos
//
// CreateForOrg creates a repository for an organization that the caller belongs
// to. A member who is not an owner becomes its first administrator.
func (api *API) CreateForOrg(w http.ResponseWriter, r *http.Request) error {
	login := web.Param(r, "org")
	if err := api.s.isOrg(r.Context(), login); err != nil {
		return err
	}
	return api.create(w, r, login)
}

func (api *API) create(w http.ResponseWriter, r *http.Request, owner string) error {
	body, err := web.ReadObject(r, repo.Resource)
	if err != nil {
		return err
	}
	body.Require("name")
	n := repo.NewRepo{Owner: owner, Name: body.String("name", 0).Value,
		Description: text(body.String("description", maxDescription)),
		Homepage:    text(body.String("homepage", maxHomepage)), Private: readPrivate(body).Or(false)}
	if n.Name != "" {
		checkNewName(&body.Faults, n.Name)
	}
	n.NoIssues = !body.Bool("has_issues").Or(true)
	n.AutoInit, n.IsTemplate = body.Bool("auto_init").Or(false), body.Bool("is_template").Or(false)
	n.Gitignore, n.License = body.String("gitignore_template", 0).Value, body.String("license_template", 0).Value
	fixedNew(body)
	if n.Merging, err = repo.ReadMerging(body).Apply(0); err != nil {
		return err
	}
	if err := body.Err(); err != nil {
		return err
	}
	caller := account.CallerFrom(r.Context())
	made, err := api.s.Create(r.Context(), caller, n)
	if err != nil {
		return err
	}
	payload := repo.NewFullPayload(&repo.Access{Repo: made, Role: account.Admin, Caller: caller},
		repo.Lineage{}, web.From(r.Context()))
	return web.Created(w, r, payload.URL, payload)
}

// PATCH /repos/{owner}/{repo}
//
// Edit changes what the body names: name, description, homepage, private, default_branch,
// has_issues, archived, and how pull requests are merged. The old name redirects from then
// on. Package network says what becomes of forks when a repository is
// hidden or shown.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, repo.Resource)
	if err != nil {
		return err
	}
	e := Edit{
		Name: body.String("name", 0), Description: body.String("description", 0),
		Homepage: body.String("homepage", 0), Private: readPrivate(body),
		DefaultBranch: body.String("default_branch", 0), HasIssues: body.Bool("has_issues"),
		Archived: body.Bool("archived"), IsTemplate: body.Bool("is_template"),
		Merging: repo.ReadMerging(body),
	}
	fixedOf(body, a.Repo)
	e.Body = body.Faults
	edited, err := api.s.Edit(r.Context(), a, e)
	if err != nil {
		return err
	}
	return api.s.repos.Answer(w, r, http.StatusOK, edited)
}

// DELETE /repos/{owner}/{repo}
//
// Delete removes the repository with all that belongs to it.
func (api *API) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.Delete(r.Context(), a); err != nil {
		return err
	}
	return web.NoContent(w)
}

package settings

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Longest texts of a repository, in code points, as at GitHub.
const (
	maxDescription = 350
	maxHomepage    = 255
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
	err := api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		org, err := account.ByLogin(tx, login)
		if err == nil && org.Kind != account.Organization {
			err = errs.Absent()
		}
		return err
	})
	if err != nil {
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
	name := body.String("name", 0)
	if name.Given() && name.Value != "" {
		if message := repo.CheckName(name.Value); message != "" {
			body.Wrong("name", errs.Custom, message)
		}
	}
	description := body.String("description", maxDescription)
	homepage := body.String("homepage", maxHomepage)
	private := readPrivate(body)
	issues := body.Bool("has_issues")
	autoInit, template := body.Bool("auto_init"), body.Bool("is_template")
	ignore, license := body.String("gitignore_template", 0), body.String("license_template", 0)
	fixedNew(body)
	merging, err := repo.ReadMerging(body).Apply(0)
	if err != nil {
		return err
	}
	if err := body.Err(); err != nil {
		return err
	}
	caller := account.CallerFrom(r.Context())
	made, err := api.s.repos.Create(r.Context(), caller, repo.NewRepo{
		Owner: owner, Name: name.Value, Description: text(description), Homepage: text(homepage),
		Private: private.Or(false), NoIssues: !issues.Or(true), AutoInit: autoInit.Or(false),
		Merging:   merging,
		Gitignore: ignore.Value, License: license.Value, IsTemplate: template.Or(false),
	})
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
		Name: body.String("name", 0), Description: body.String("description", maxDescription),
		Homepage: body.String("homepage", maxHomepage), Private: readPrivate(body),
		DefaultBranch: body.String("default_branch", 255), HasIssues: body.Bool("has_issues"),
		Archived: body.Bool("archived"), IsTemplate: body.Bool("is_template"),
		Merging: repo.ReadMerging(body),
	}
	fixedOf(body, a.Repo)
	if e.Name.Given() {
		if message := repo.CheckName(e.Name.Value); message != "" {
			body.Wrong("name", errs.Custom, message)
		}
	}
	if err := body.Err(); err != nil {
		return err
	}
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
	if err := api.s.Delete(r.Context(), a.ID, a.Caller); err != nil {
		return err
	}
	return web.NoContent(w)
}

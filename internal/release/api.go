package release

import (
	"net/http"
	"slices"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API answers the requests about releases.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// answer answers with releases of one repository: a list, or alone the only one.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, alone bool,
	find func(tx *db.Tx) ([]*Release, error)) error {
	return web.Answer(w, r, status, func(out *web.Output) error {
		var p *Page
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) error {
			list, err := find(tx)
			if err != nil {
				return err
			}
			p, err = loadPage(out.Context(), tx, map[repo.ID]*repo.Access{a.ID: a}, list)
			return err
		})
		if err != nil {
			return err
		}
		if err := p.Bodies(out, api.s.issues); err != nil {
			return err
		}
		return out.Items(len(p.list), alone, func(n int) (any, error) { return p.payload(n) })
	})
}

// one answers with the release that find returns, if the caller may see it.
func (api *API) one(
	w http.ResponseWriter, r *http.Request, a *repo.Access, find func(tx *db.Tx) (*Release, error),
) error {
	return api.answer(w, r, a, http.StatusOK, true, func(tx *db.Tx) ([]*Release, error) {
		x, err := visible(a, find, tx)
		return []*Release{x}, err
	})
}

// visible returns 404 for a draft to callers without push access.
func visible(a *repo.Access, find func(tx *db.Tx) (*Release, error), tx *db.Tx) (*Release, error) {
	x, err := find(tx)
	if err == nil && x.Draft && !seesDrafts(a) {
		return nil, errs.Absent()
	}
	return x, err
}

// GET /repos/{owner}/{repo}/releases
//
// List answers a page of releases, the newest commit first; with push access drafts are among them.
func (api *API) List(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	page := web.ReadPage(r)
	return api.answer(w, r, a, http.StatusOK, false, func(tx *db.Tx) ([]*Release, error) {
		found, total, err := list(tx, a.ID, seesDrafts(a), page)
		if err == nil {
			web.Link(w, r, page, total)
		}
		return found, err
	})
}

// POST /repos/{owner}/{repo}/releases
//
// Create creates a release, and its tag if that is missing. Errors: 404 for a category of discussions, since
// there are no discussions; 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("tag_name")
	generate := body.Bool("generate_release_notes").Or(false)
	e, err := readEdit(body)
	if err != nil {
		return err
	}
	if generate {
		if err := api.s.addNotes(r.Context(), a, &e); err != nil {
			return err
		}
	}
	made, err := api.s.Create(r.Context(), a, e)
	if err != nil {
		return err
	}
	self := web.Path("repos", a.Owner.Login, a.Name, "releases", strconv.FormatInt(made.ID, 10))
	w.Header().Set("Location", web.From(r.Context()).API(self))
	return api.made(w, r, a, http.StatusCreated, made)
}

// made answers with a release that was just written.
func (api *API) made(
	w http.ResponseWriter, r *http.Request, a *repo.Access, status int, made *Release,
) error {
	return api.answer(w, r, a, status, true, func(*db.Tx) ([]*Release, error) {
		return []*Release{made}, nil
	})
}

// readEdit reads the fields of a release. Errors: 404 for a category of discussions; 422.
func readEdit(body *web.Object) (Edit, error) {
	e := Edit{Tag: body.String("tag_name", MaxTag), Target: body.String("target_commitish", MaxTag),
		Name: body.String("name", MaxName), Body: body.String("body", MaxBody),
		Draft: body.Bool("draft"), Prerelease: body.Bool("prerelease")}
	if e.Target.Value == "" {
		e.Target = web.Opt[string]{} // of a new one the default branch
	}
	if choice := body.Enum("make_latest", choices[:]...); choice.Given() {
		e.Choice = Choice(slices.Index(choices[:], choice.Value) + 1)
	}
	category := body.String("discussion_category_name", 0)
	if err := body.Err(); err != nil {
		return e, err
	}
	if category.Value != "" {
		return e, errs.Absent() // as at GitHub, where a repository has no discussions
	}
	return e, nil
}

// GET /repos/{owner}/{repo}/releases/{release_id}
//
// Get answers a release. Error: 404, also for a draft without push access.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "release_id")
	if err != nil {
		return err
	}
	return api.one(w, r, a, func(tx *db.Tx) (*Release, error) { return byID(tx, a.ID, id) })
}

// GET /repos/{owner}/{repo}/releases/latest
//
// GetLatest answers the latest release. Error: 404 if there is none.
func (api *API) GetLatest(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.one(w, r, a, func(tx *db.Tx) (*Release, error) { return latestOf(tx, a.ID) })
}

// GET /repos/{owner}/{repo}/releases/tags/{tag...}
//
// GetByTag answers the published release of a tag. Error: 404.
func (api *API) GetByTag(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.one(w, r, a, func(tx *db.Tx) (*Release, error) { return byTag(tx, a.ID, web.Param(r, "tag")) })
}

// PATCH /repos/{owner}/{repo}/releases/{release_id}
//
// Edit changes what the body names; with draft false it publishes, which makes the tag if that is missing.
// Errors: those of Create.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "release_id")
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	if body.Has("tag_name") {
		body.Require("tag_name")
	}
	e, err := readEdit(body)
	if err != nil {
		return err
	}
	made, err := api.s.Edit(r.Context(), a, id, e)
	if err != nil {
		return err
	}
	return api.made(w, r, a, http.StatusOK, made)
}

// DELETE /repos/{owner}/{repo}/releases/{release_id}
//
// Delete removes a release with its assets. The tag stays. Error: 404.
func (api *API) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "release_id")
	if err == nil {
		err = api.s.Delete(r.Context(), a, id)
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

package list

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// readOrder reads sort and direction; the first sort named is the default.
func readOrder(r *http.Request, sorts ...string) (Order, error) {
	sort, err := web.QueryEnum(r, repo.Resource, "sort", sorts...)
	if err != nil {
		return Order{}, err
	}
	usual := "desc"
	if sort == "full_name" {
		usual = "asc"
	}
	directions := []string{usual, "asc", "desc"}
	direction, err := web.QueryEnum(r, repo.Resource, "direction", directions...)
	return Order{sort, direction == "desc"}, err
}

// GET /users/{username}/repos
//
// ListOfUser answers the repositories of a user or organization that the caller
// may see: type owner (default), member (where the user collaborates) or all.
func (api *API) ListOfUser(w http.ResponseWriter, r *http.Request) error {
	kind, err := web.QueryEnum(r, repo.Resource, "type", "owner", "all", "member")
	if err != nil {
		return err
	}
	o, err := readOrder(r, "full_name", "created", "updated", "pushed")
	if err != nil {
		return err
	}
	at := web.ReadPage(r)
	found, total, err := api.OfUser(r.Context(), account.CallerFrom(r.Context()), web.Param(r, "username"), kind, o, at)
	return answer(w, r, at, found, total, err)
}

// GET /orgs/{org}/repos
//
// ListOfOrg answers the repositories of an organization that the caller may
// see: type all (default), public, private, forks, sources, member.
func (api *API) ListOfOrg(w http.ResponseWriter, r *http.Request) error {
	kind, err := web.QueryEnum(r, repo.Resource, "type", "all", "public", "private", "forks",
		"sources", "member")
	if err != nil {
		return err
	}
	o, err := readOrder(r, "created", "updated", "pushed", "full_name")
	if err != nil {
		return err
	}
	at := web.ReadPage(r)
	found, total, err := api.OfOrg(r.Context(), account.CallerFrom(r.Context()), web.Param(r, "org"), kind, o, at)
	return answer(w, r, at, found, total, err)
}

// GET /user/repos
//
// ListOwn answers the repositories that the caller has a part in: by
// affiliation (owner, collaborator, organization_member) and visibility, or by
// type, which cannot be combined with those two; and updated since or before.
func (api *API) ListOwn(w http.ResponseWriter, r *http.Request) error {
	q := web.QueryOf(r)
	p := Part{Affiliation: q.Get("affiliation")}
	var err error
	p.Kind, err = web.QueryEnum(r, repo.Resource, "type", "all", "owner", "public", "private", "member")
	if err != nil {
		return err
	}
	if q.Get("type") != "" && (q.Get("visibility") != "" || p.Affiliation != "") {
		return errs.Validation(errs.Field{Resource: repo.Resource, Field: "type", Code: errs.Custom,
			Message: "If you specify visibility or affiliation, you cannot specify type."})
	}
	if p.Visibility, err = web.QueryEnum(r, repo.Resource, "visibility", "all", "public", "private"); err != nil {
		return err
	}
	o, err := readOrder(r, "full_name", "created", "updated", "pushed")
	if err != nil {
		return err
	}
	since, err := web.QueryTime(r, repo.Resource, "since")
	if err != nil {
		return err
	}
	before, err := web.QueryTime(r, repo.Resource, "before")
	if err != nil {
		return err
	}
	p.Since, p.Before = db.FromTime(since), db.FromTime(before)
	at := web.ReadPage(r)
	found, total, err := api.Own(r.Context(), account.CallerFrom(r.Context()), p, o, at)
	return answer(w, r, at, found, total, err)
}

// GET /repositories
//
// ListPublic answers all public repositories by id, beginning after the id in since; the
// Link header names the next page only, as GitHub's.
func (api *API) ListPublic(w http.ResponseWriter, r *http.Request) error {
	since, size := repo.ID(web.ReadSince(r)), web.ReadPage(r).Size
	found, err := db.Get(r.Context(), api.db, func(tx *db.Tx) ([]*repo.Access, error) {
		return publicAfter(tx, account.CallerFrom(r.Context()), since, size+1)
	})
	if err != nil {
		return err
	}
	found = web.CutSince(w, r, found, func(a *repo.Access) repo.ID { return a.ID })
	return web.JSON(w, r, http.StatusOK, repo.NewPayloads(found, web.From(r.Context())))
}

// answer answers a page of a list, unless reading it failed.
func answer(
	w http.ResponseWriter, r *http.Request, at web.Page, found []*repo.Access, total int64, err error,
) error {
	if err != nil {
		return err
	}
	web.Link(w, r, at, total)
	return web.JSON(w, r, http.StatusOK, repo.NewPayloads(found, web.From(r.Context())))
}

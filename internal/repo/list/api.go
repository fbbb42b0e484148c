package list

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// order is a list's sort and direction.
type order struct {
	sort string // created, updated, pushed or full_name
	desc bool
}

// readOrder reads sort and direction; the first sort named is the default.
func readOrder(r *http.Request, sorts ...string) (order, error) {
	sort, err := web.QueryEnum(r, repo.Resource, "sort", sorts...)
	if err != nil {
		return order{}, err
	}
	usual := "desc"
	if sort == "full_name" {
		usual = "asc"
	}
	directions := []string{usual, "asc", "desc"}
	direction, err := web.QueryEnum(r, repo.Resource, "direction", directions...)
	return order{sort, direction == "desc"}, err
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
	return api.list(w, r, o, func(tx *db.Tx) (filter, error) {
		who, err := account.ByLogin(tx, web.Param(r, "username"))
		if err != nil {
			return filter{}, err
		}
		f := filter{visibleTo: account.CallerFrom(r.Context())}
		switch kind {
		case "owner":
			f.owner = who.ID
		case "member":
			f.collaborator = who.ID
		default:
			f.owner, f.collaborator = who.ID, who.ID
		}
		return f, nil
	})
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
	return api.list(w, r, o, func(tx *db.Tx) (filter, error) {
		org, err := account.ByLogin(tx, web.Param(r, "org"))
		if err == nil && org.Kind != account.Organization {
			err = errs.Absent()
		}
		if err != nil {
			return filter{}, err
		}
		f := filter{owner: org.ID, visibleTo: account.CallerFrom(r.Context())}
		switch kind {
		case "public", "private":
			f.visibility = kind
		case "forks", "sources":
			f.kind = kind
		case "member":
			f.granted = true
		}
		return f, nil
	})
}

// GET /user/repos
//
// ListOwn answers the repositories that the caller has a part in: by
// affiliation (owner, collaborator, organization_member) and visibility, or by
// type, which cannot be combined with those two; and updated since or before.
func (api *API) ListOwn(w http.ResponseWriter, r *http.Request) error {
	q := web.QueryOf(r)
	kind, err := web.QueryEnum(r, repo.Resource, "type", "all", "owner", "public", "private", "member")
	if err != nil {
		return err
	}
	if q.Get("type") != "" && (q.Get("visibility") != "" || q.Get("affiliation") != "") {
		return errs.Validation(errs.Field{Resource: repo.Resource, Field: "type", Code: errs.Custom,
			Message: "If you specify visibility or affiliation, you cannot specify type."})
	}
	visibility, err := web.QueryEnum(r, repo.Resource, "visibility", "all", "public", "private")
	if err != nil {
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
	me := account.CallerFrom(r.Context())
	f := filter{visibleTo: me, visibility: visibility, since: db.FromTime(since), before: db.FromTime(before)}
	switch kind {
	case "public", "private":
		f.visibility = kind
	case "owner":
		f.owner = me.ID
	case "member":
		f.collaborator, f.member = me.ID, me.ID
	}
	if f.owner+f.collaborator == 0 {
		if err := f.affiliate(q.Get("affiliation"), me.ID); err != nil {
			return err
		}
	}
	return api.list(w, r, o, func(*db.Tx) (filter, error) { return f, nil })
}

// GET /repositories
//
// ListPublic answers all public repositories by id, beginning after the id in since; the
// Link header names the next page only, as GitHub's.
func (api *API) ListPublic(w http.ResponseWriter, r *http.Request) error {
	since, size := repo.ID(web.ReadSince(r)), web.ReadPage(r).Size
	var found []*repo.Access
	err := api.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		found, err = publicAfter(tx, account.CallerFrom(r.Context()), since, size+1)
		return err
	})
	if err != nil {
		return err
	}
	found = web.CutSince(w, r, found, func(a *repo.Access) repo.ID { return a.ID })
	return web.JSON(w, r, http.StatusOK, repo.NewPayloads(found, web.From(r.Context())))
}

// affiliate reads the comma-separated affiliations; none means all three.
func (f *filter) affiliate(list string, id account.ID) error {
	if list == "" {
		f.owner, f.collaborator, f.member = id, id, id
		return nil
	}
	for a := range strings.SplitSeq(list, ",") {
		switch strings.TrimSpace(a) {
		case "owner":
			f.owner = id
		case "collaborator":
			f.collaborator = id
		case "organization_member":
			f.member = id
		default:
			return errs.Validation(errs.Field{Resource: repo.Resource, Field: "affiliation",
				Code: errs.InvalidField, Value: list})
		}
	}
	return nil
}

// list answers a page of the repositories that the filter lets through.
func (api *API) list(
	w http.ResponseWriter, r *http.Request, o order, makeFilter func(*db.Tx) (filter, error),
) error {
	page := web.ReadPage(r)
	var found []*repo.Access
	var total int64
	err := api.db.Read(r.Context(), func(tx *db.Tx) error {
		f, err := makeFilter(tx)
		if err != nil {
			return err
		}
		f.brief = web.From(r.Context()).Brief
		found, total, err = listRepos(tx, f, o, page)
		return err
	})
	if err != nil {
		return err
	}
	web.Link(w, r, page, total)
	return web.JSON(w, r, http.StatusOK, repo.NewPayloads(found, web.From(r.Context())))
}

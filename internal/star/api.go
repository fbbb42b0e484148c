package star

import (
	"context"
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API answers the requests about stars and watching.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// resource is the name of a star in errors.
const resource = "Star"

// stargazer is how the star media type shows a user (code-hosting.md, Star
// records).
type stargazer struct {
	StarredAt db.Time         `json:"starred_at"`
	User      *account.Simple `json:"user"`
}

// starred is how it shows a repository.
type starred struct {
	StarredAt db.Time       `json:"starred_at"`
	Repo      *repo.Payload `json:"repo"`
}

// withTimes reports whether the request has the star media type.
func withTimes(i *web.Info) bool { return i.Media.Kind == "star" }

// GET /repos/{owner}/{repo}/stargazers
//
// ListStargazers answers who starred the repository, the first one first; as
// star also when.
func (api *API) ListStargazers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.people(w, r, a, Star)
}

// people answers a page of those who marked a repository.
func (api *API) people(w http.ResponseWriter, r *http.Request, a *repo.Access, k Kind) error {
	page := web.ReadPage(r)
	list, total, err := api.s.People(r.Context(), a, k, page)
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	web.Link(w, r, page, total)
	if k == Star && withTimes(info) {
		out := make([]stargazer, len(list))
		for n, p := range list {
			out[n] = stargazer{p.At, account.NewSimple(p.Account, info)}
		}
		return web.JSON(w, r, http.StatusOK, out)
	}
	out := make([]*account.Simple, len(list))
	for n, p := range list {
		out[n] = account.NewSimple(p.Account, info)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /users/{username}/starred
//
// ListStarred answers those of a user's starred repositories that the caller may
// see (decision 41), by when it was starred or last pushed to; as star also when.
func (api *API) ListStarred(w http.ResponseWriter, r *http.Request) error {
	return api.starred(w, r, web.Param(r, "username"))
}

// GET /user/starred
//
// ListOwnStarred answers what the caller starred, as ListStarred does.
func (api *API) ListOwnStarred(w http.ResponseWriter, r *http.Request) error {
	return api.starred(w, r, account.CallerFrom(r.Context()).Login)
}

func (api *API) starred(w http.ResponseWriter, r *http.Request, login string) error {
	sort, err := web.QueryEnum(r, resource, "sort", "created", "updated")
	if err != nil {
		return err
	}
	direction, err := web.QueryEnum(r, resource, "direction", "desc", "asc")
	if err != nil {
		return err
	}
	return api.repos(w, r, login, Star, Order{Pushed: sort == "updated", Desc: direction == "desc"})
}

// repos answers a page of what a user marked.
func (api *API) repos(w http.ResponseWriter, r *http.Request, login string, k Kind, o Order) error {
	page := web.ReadPage(r)
	list, total, err := api.s.Repos(r.Context(), account.CallerFrom(r.Context()), login, k, o, page)
	if err != nil {
		return err
	}
	info := web.From(r.Context())
	web.Link(w, r, page, total)
	if k == Star && withTimes(info) {
		out := make([]starred, len(list))
		for n, m := range list {
			out[n] = starred{m.At, repo.NewPayload(m.Access, info)}
		}
		return web.JSON(w, r, http.StatusOK, out)
	}
	out := make([]*repo.Payload, len(list))
	for n, m := range list {
		out[n] = repo.NewPayload(m.Access, info)
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// GET /user/starred/{owner}/{repo}
//
// Check returns 204 if the caller starred the repository, else 404 without a body. A repository that is not
// visible to the caller gets a 404 with a body (decision 52).
func (api *API) Check(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	since, err := api.s.Has(r.Context(), a, Star)
	if err != nil {
		return err
	}
	if since.IsZero() {
		w.WriteHeader(http.StatusNotFound)
		return nil
	}
	return web.NoContent(w)
}

// GET /users/{username}/starred/{owner}/{repo}
//
// CheckOf answers 204 when a user starred the repository, which the caller sees,
// else 404: where starred_url of users leads.
func (api *API) CheckOf(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := api.s.starredBy(r.Context(), a, web.Param(r, "username")); err != nil {
		return err
	}
	return web.NoContent(w)
}

// PUT /user/starred/{owner}/{repo}
//
// Star stars the repository for the caller; again is 204, too (decision 41).
func (api *API) Star(w http.ResponseWriter, r *http.Request) error {
	return api.change(w, r, api.s.starNamed, api.s.Put)
}

// DELETE /user/starred/{owner}/{repo}
//
// Unstar takes the caller's star off; without one it is 204, too (decision 41).
func (api *API) Unstar(w http.ResponseWriter, r *http.Request) error {
	return api.change(w, r, api.s.unstarNamed, api.s.Drop)
}

// change handles the common case in one step: the repository is public and has its current name. Only if
// that had no effect, or the App of the token may not, it determines the reason, as elsewhere.
func (api *API) change(w http.ResponseWriter, r *http.Request,
	direct func(context.Context, *account.Caller, string, string) (bool, error),
	usual func(context.Context, *repo.Access, Kind) error) error {
	caller := account.CallerFrom(r.Context())
	if caller.Refusal == nil && !caller.AsksReach() {
		done, err := direct(r.Context(), caller, web.Param(r, "owner"), web.Param(r, "repo"))
		if err != nil {
			return err
		}
		if done {
			return web.NoContent(w)
		}
	}
	return api.s.repos.WithArchived(account.Pull,
		func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
			if err := usual(r.Context(), a, Star); err != nil {
				return err
			}
			return web.NoContent(w)
		})(w, r)
}

package follow

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// API answers the routes of following.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// GET /users/{username}/followers
//
// ListFollowers lists who follows an account, the first one first. Errors: 404.
func (api *API) ListFollowers(w http.ResponseWriter, r *http.Request) error {
	return api.list(w, r, web.Param(r, "username"), Followers)
}

// GET /users/{username}/following
//
// ListFollowing lists whom an account follows, the first one first. Errors: 404.
func (api *API) ListFollowing(w http.ResponseWriter, r *http.Request) error {
	return api.list(w, r, web.Param(r, "username"), Following)
}

// GET /user/followers
//
// ListOwnFollowers lists who follows the caller.
func (api *API) ListOwnFollowers(w http.ResponseWriter, r *http.Request) error {
	return api.list(w, r, account.CallerFrom(r.Context()).Login, Followers)
}

// GET /user/following
//
// ListOwnFollowing lists whom the caller follows.
func (api *API) ListOwnFollowing(w http.ResponseWriter, r *http.Request) error {
	return api.list(w, r, account.CallerFrom(r.Context()).Login, Following)
}

func (api *API) list(w http.ResponseWriter, r *http.Request, login string, of Side) error {
	p := web.ReadPage(r)
	list, total, err := api.s.List(r.Context(), login, of, p)
	if err != nil {
		return err
	}
	web.Link(w, r, p, total)
	return web.JSON(w, r, http.StatusOK, account.NewSimples(list, web.From(r.Context())))
}

// GET /users/{username}/following/{target}
//
// CheckFollowing answers 204 when an account follows another, else 404.
func (api *API) CheckFollowing(w http.ResponseWriter, r *http.Request) error {
	return api.check(w, r, web.Param(r, "username"), web.Param(r, "target"))
}

// GET /user/following/{username}
//
// CheckOwnFollowing answers 204 when the caller follows the account, else 404.
func (api *API) CheckOwnFollowing(w http.ResponseWriter, r *http.Request) error {
	return api.check(w, r, account.CallerFrom(r.Context()).Login, web.Param(r, "username"))
}

func (api *API) check(w http.ResponseWriter, r *http.Request, login, target string) error {
	does, err := api.s.Follows(r.Context(), login, target)
	if err == nil && !does {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

// PUT /user/following/{username}
//
// Follow follows an account as the caller: 204, even if the caller follows it already.
// Errors: 404, 422 for oneself.
func (api *API) Follow(w http.ResponseWriter, r *http.Request) error {
	return api.follow(w, r, true)
}

// DELETE /user/following/{username}
//
// Unfollow ends that: 204, even if the caller did not follow. Errors: 404.
func (api *API) Unfollow(w http.ResponseWriter, r *http.Request) error {
	return api.follow(w, r, false)
}

func (api *API) follow(w http.ResponseWriter, r *http.Request, on bool) error {
	if err := api.s.Follow(r.Context(), account.CallerFrom(r.Context()), web.Param(r, "username"), on); err != nil {
		return err
	}
	return web.NoContent(w)
}

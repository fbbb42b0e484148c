package activity

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of feeds.
type API struct {
	*Service
	repos  *repo.Service
	issues *issue.Service
}

// NewAPI returns the handlers of the service; repos finds the repository of a request.
func NewAPI(s *Service, repos *repo.Service, issues *issue.Service) *API {
	return &API{s, repos, issues}
}

// pollInterval is the recommended polling interval in seconds, as at GitHub.
const pollInterval = "60"

// serve answers a page of a feed.
func (api *API) serve(w http.ResponseWriter, r *http.Request, choose find) error {
	p, caller := web.ReadPage(r), account.CallerFrom(r.Context())
	var feed *feed
	total, err := api.page(r.Context(), caller, p, choose, func(tx *db.Tx, list []*Activity) (err error) {
		feed, err = load(r.Context(), tx, caller, list)
		return err
	})
	if err != nil {
		return err
	}
	w.Header().Set("X-Poll-Interval", pollInterval)
	web.Link(w, r, p, total)
	return web.Answer(w, r, http.StatusOK, func(out *web.Output) error {
		return feed.render(out, api.issues)
	})
}

// named returns a find for the account in the address.
func named(r *http.Request, of func(tx *db.Tx, id account.ID) (selection, error)) find {
	return ofNamed(web.Param(r, "username"), of)
}

// GET /events
//
// ListPublic lists recent events in public repositories.
func (api *API) ListPublic(w http.ResponseWriter, r *http.Request) error {
	return api.serve(w, r, func(*db.Tx) (selection, error) { return everything(), nil })
}

// GET /repos/{owner}/{repo}/events
//
// ListOfRepo lists the events of a repository, newest first like all feeds: at most 300, with their current
// data.
func (api *API) ListOfRepo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.serve(w, r, func(*db.Tx) (selection, error) { return ofRepo(a.ID, a.Granted), nil })
}

// GET /networks/{owner}/{repo}/events
//
// ListOfNetwork lists the events of all repositories in the network, as far as they are visible to the
// caller.
func (api *API) ListOfNetwork(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.serve(w, r, func(tx *db.Tx) (selection, error) { return ofNetwork(tx, a.NetworkID, a.Caller) })
}

// GET /orgs/{org}/events
//
// ListOfOrg lists the events in an organization's public repositories. Error: 404.
func (api *API) ListOfOrg(w http.ResponseWriter, r *http.Request) error {
	return api.serve(w, r, func(tx *db.Tx) (selection, error) {
		org, err := account.ByLogin(tx, web.Param(r, "org"))
		if err != nil || org.Kind != account.Organization {
			return selection{}, orAbsent(err)
		}
		return ofOrg(org.ID, false), nil
	})
}

// orAbsent returns err, or 404 if it is nil.
func orAbsent(err error) error {
	if err == nil {
		return errs.Absent()
	}
	return err
}

// GET /users/{username}/events
//
// ListOfUser lists a user's events in public repositories, and for that user also in private ones. Error:
// 404.
func (api *API) ListOfUser(w http.ResponseWriter, r *http.Request) error {
	return api.serve(w, r, named(r, func(_ *db.Tx, id account.ID) (selection, error) {
		return ofActor(id, account.IDOf(account.CallerFrom(r.Context())) == id), nil
	}))
}

// GET /users/{username}/events/public
//
// ListOfUserInPublic lists a user's events in public repositories. Error: 404.
func (api *API) ListOfUserInPublic(w http.ResponseWriter, r *http.Request) error {
	return api.serve(w, r, named(r, func(_ *db.Tx, id account.ID) (selection, error) {
		return ofActor(id, false), nil
	}))
}

// GET /users/{username}/events/orgs/{org}
//
// ListOfUserInOrg lists the events in the repositories of an organization for the user, who must be the
// caller and a member. Error: 404 for everyone else.
func (api *API) ListOfUserInOrg(w http.ResponseWriter, r *http.Request) error {
	return api.serve(w, r, func(tx *db.Tx) (selection, error) {
		user, err := account.ByLogin(tx, web.Param(r, "username"))
		if err != nil || user.ID != account.CallerFrom(r.Context()).ID {
			return selection{}, orAbsent(err)
		}
		org, err := account.ByLogin(tx, web.Param(r, "org"))
		if err != nil {
			return selection{}, err
		}
		member, _, err := account.OrgRole(tx, org.ID, user.ID)
		closed := false
		if err == nil {
			closed, err = account.CallerFrom(r.Context()).IsClosed(tx, org.ID)
		}
		if err != nil || !member || closed {
			return selection{}, orAbsent(err)
		}
		return ofOrg(org.ID, true), nil
	})
}

// GET /users/{username}/received_events
//
// ListReceived lists the events in repositories that a user watches and those of users followed: public
// ones, and for that user also those in watched private repositories. Error: 404.
func (api *API) ListReceived(w http.ResponseWriter, r *http.Request) error {
	return api.serve(w, r, named(r, func(tx *db.Tx, id account.ID) (selection, error) {
		return received(tx, id, account.CallerFrom(r.Context()))
	}))
}

// GET /users/{username}/received_events/public
//
// ListReceivedInPublic lists only the public ones of these. Error: 404.
func (api *API) ListReceivedInPublic(w http.ResponseWriter, r *http.Request) error {
	return api.serve(w, r, named(r, func(tx *db.Tx, id account.ID) (selection, error) {
		return received(tx, id, nil)
	}))
}

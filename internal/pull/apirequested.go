package pull

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/team"
	"arbor/internal/web"
)

// requestedJSON is the response of GET requested_reviewers.
type requestedJSON struct {
	Users []*account.Simple `json:"users"`
	Teams []*team.Simple    `json:"teams"`
}

// GET /repos/{owner}/{repo}/pulls/{number}/requested_reviewers
//
// ListRequested lists the users whose review is requested and who have not reviewed, and, for members of the
// organization, the teams. Error: 404.
func (api *API) ListRequested(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	users, err := api.s.AskedFor(r.Context(), a, n)
	if err != nil {
		return err
	}
	groups, err := api.s.AskedTeams(r.Context(), a, n)
	if err != nil {
		return err
	}
	out := requestedJSON{Users: make([]*account.Simple, len(users)), Teams: teamsOf(groups,
		web.From(r.Context()))}
	for n, u := range users {
		out.Users[n] = account.NewSimple(u, web.From(r.Context()))
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// teamsOf renders teams.
func teamsOf(list []*team.Team, i *web.Info) []*team.Simple {
	out := make([]*team.Simple, len(list))
	for n, t := range list {
		out[n] = team.NewSimple(t, i)
	}
	return out
}

// POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers
//
// RequestReviewers requests reviews. Only the author and users with push access may do so. Errors: 403,
// 404, 422.
func (api *API) RequestReviewers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changeRequested(w, r, a, true)
}

// DELETE /repos/{owner}/{repo}/pulls/{number}/requested_reviewers
//
// UnrequestReviewers removes review requests. Only the author and users with push access may do so. Errors:
// 403, 404, 422.
func (api *API) UnrequestReviewers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.changeRequested(w, r, a, false)
}

func (api *API) changeRequested(w http.ResponseWriter, r *http.Request, a *repo.Access, ask bool) error {
	p, body, err := api.findToEdit(r, a)
	if err != nil {
		return err
	}
	people, groups := body.Strings("reviewers", maxLogins, 0), body.Strings("team_reviewers", maxLogins, 0)
	if !people.Given() && !groups.Given() && body.Err() == nil {
		body.Wrong("reviewers", errs.MissingField, "")
	}
	if err := body.Err(); err != nil {
		return err
	}
	change, status := api.s.UnrequestReviews, http.StatusOK
	if ask {
		change, status = api.s.RequestReviews, http.StatusCreated
	}
	if err := change(r.Context(), a, p.Number, people.Value, groups.Value...); err != nil {
		return err
	}
	return api.answer(w, r, a, status, p.Number, brief)
}

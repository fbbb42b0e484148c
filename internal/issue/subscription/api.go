package subscription

import (
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/star"
	"arbor/internal/web"
)

// API implements the HTTP handlers of subscriptions.
type API struct {
	s     *Service
	repos *repo.Service
}

// NewAPI returns the handlers of s.
func NewAPI(s *Service, repos *repo.Service) *API { return &API{s, repos} }

// payload is GitHub's thread subscription, for an issue.
type payload struct {
	Subscribed    bool    `json:"subscribed"`
	Ignored       bool    `json:"ignored"`
	Reason        *string `json:"reason"`
	CreatedAt     db.Time `json:"created_at"` // null: no subscription
	URL           string  `json:"url"`
	IssueURL      string  `json:"issue_url"`
	RepositoryURL string  `json:"repository_url"`
}

func newPayload(p *issuekit.Addresses, number int64, s Subscription) *payload {
	of := p.API + "/issues/" + strconv.FormatInt(number, 10)
	out := &payload{
		Subscribed: s.Subscribed, Ignored: s.Ignored, CreatedAt: s.Since,
		URL: of + "/subscription", IssueURL: of, RepositoryURL: p.API,
	}
	if s.Reason != "" {
		out.Reason = &s.Reason
	}
	return out
}

// GET /repos/{owner}/{repo}/issues/{number}/subscription
//
// Get returns the caller's subscription to an issue or pull request, whether explicit or by participation.
// Errors: 404 if there is none, 410.
func (api *API) Get(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	s, err := api.s.Get(r.Context(), a, n)
	if err == nil && !s.exists() {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPayload(issuekit.AddressesOf(r, a), n, s))
}

// PUT /repos/{owner}/{repo}/issues/{number}/subscription
//
// Set subscribes the caller to an issue or pull request. With ignored it ignores the issue; with subscribed
// false it unsubscribes. Errors: 404, 410, 422.
func (api *API) Set(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.issues.Requested(r, a)
	if err != nil {
		return err
	}
	subscribed, ignored, err := star.ReadSubscription(r)
	if err != nil {
		return err
	}
	wish := Subscribe
	if ignored {
		wish = Ignore
	} else if !subscribed {
		wish = Unsubscribe
	}
	s, err := api.s.Subscribe(r.Context(), a, i.Number, wish)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newPayload(issuekit.AddressesOf(r, a), i.Number, s))
}

// DELETE /repos/{owner}/{repo}/issues/{number}/subscription
//
// Delete unsubscribes the caller permanently: participation does not subscribe again until the caller
// subscribes: 204. Errors: 404, 410.
func (api *API) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.issues.Requested(r, a)
	if err != nil {
		return err
	}
	if _, err := api.s.Subscribe(r.Context(), a, i.Number, Unsubscribe); err != nil {
		return err
	}
	return web.NoContent(w)
}

package star

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// subscriptionJSON is GitHub's repository-subscription.
type subscriptionJSON struct {
	Subscribed    bool     `json:"subscribed"`
	Ignored       bool     `json:"ignored"`
	Reason        *string  `json:"reason"`
	CreatedAt     *db.Time `json:"created_at"`
	URL           string   `json:"url"`
	RepositoryURL string   `json:"repository_url"`
}

func newSubscription(s Subscription, a *repo.Access, i *web.Info) *subscriptionJSON {
	api := i.API(web.Path("repos", a.Owner.Login, a.Name))
	out := &subscriptionJSON{Subscribed: s.Wish == Everything, Ignored: s.Wish == Nothing,
		URL: api + "/subscription", RepositoryURL: api}
	if !s.Since.IsZero() {
		out.CreatedAt = &s.Since
	}
	return out
}

// GET /repos/{owner}/{repo}/subscribers
//
// ListSubscribers answers who watches the repository, the first one first.
func (api *API) ListSubscribers(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.people(w, r, a, Watch)
}

// GET /users/{username}/subscriptions
//
// ListWatched lists the repositories that a user watches, as far as they are visible to the caller, in the
// order of watching.
func (api *API) ListWatched(w http.ResponseWriter, r *http.Request) error {
	return api.repos(w, r, web.Param(r, "username"), Watch, Order{})
}

// GET /user/subscriptions
//
// ListOwnWatched answers what the caller watches.
func (api *API) ListOwnWatched(w http.ResponseWriter, r *http.Request) error {
	return api.repos(w, r, account.CallerFrom(r.Context()).Login, Watch, Order{})
}

// GET /repos/{owner}/{repo}/subscription
//
// GetSubscription answers whether the caller watches the repository or silenced
// it. Error: 404 when neither.
func (api *API) GetSubscription(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	s, err := api.s.Subscription(r.Context(), a)
	if err == nil && s.Wish == NoWish {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newSubscription(s, a, web.From(r.Context())))
}

// PUT /repos/{owner}/{repo}/subscription
//
// SetSubscription subscribes the caller to the repository; with ignored it
// silences the repository, and with subscribed false it does neither. Error: 422.
func (api *API) SetSubscription(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	subscribed, ignored, err := ReadSubscription(r)
	if err != nil {
		return err
	}
	wish := Everything
	if ignored {
		wish = Nothing
	} else if !subscribed {
		wish = NoWish
	}
	s, err := api.s.Subscribe(r.Context(), a, wish)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newSubscription(s, a, web.From(r.Context())))
}

// DELETE /repos/{owner}/{repo}/subscription
//
// DeleteSubscription ends watching and silence: 204, even if there was
// neither.
func (api *API) DeleteSubscription(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if _, err := api.s.Subscribe(r.Context(), a, NoWish); err != nil {
		return err
	}
	return web.NoContent(w)
}

// ReadSubscription reads the body of a request to subscribe to something or to ignore it.
// Without a body it is to subscribe. Error: 422.
func ReadSubscription(r *http.Request) (subscribed, ignored bool, err error) {
	body, err := web.ReadOptional(r, "Subscription")
	if err != nil {
		return false, false, err
	}
	yes, no := body.Bool("subscribed"), body.Bool("ignored")
	return yes.Or(true), no.Value, body.Err()
}

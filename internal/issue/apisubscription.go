package issue

import (
	"net/http"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// subscriptionJSON is GitHub's subscription to a thread, with the issue in the
// thread's place.
type subscriptionJSON struct {
	Subscribed    bool    `json:"subscribed"`
	Ignored       bool    `json:"ignored"`
	Reason        *string `json:"reason"`
	CreatedAt     db.Time `json:"created_at"` // null: no subscription
	URL           string  `json:"url"`
	IssueURL      string  `json:"issue_url"`
	RepositoryURL string  `json:"repository_url"`
}

func renderSubscription(p *tracker.Place, number int64, s Subscription) *subscriptionJSON {
	issue := p.API + "/issues/" + itoa(number)
	out := &subscriptionJSON{
		Subscribed: s.Subscribed, Ignored: s.Ignored, CreatedAt: s.Since,
		URL: issue + "/subscription", IssueURL: issue, RepositoryURL: p.API,
	}
	if s.Reason != "" {
		out.Reason = &s.Reason
	}
	return out
}

// GET /repos/{owner}/{repo}/issues/{number}/subscription
//
// GetSubscription answers how the caller is subscribed to an issue or pull
// request, by own wish or by having a part in it. Errors: 404 when not at all,
// 410.
func (api *API) GetSubscription(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	var s Subscription
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) error {
		i, err := ByNumber(tx, a.ID, n)
		if err == nil {
			err = enabled(a.Repo, i)
		}
		if err == nil {
			s, err = subscriptionOf(tx, i, a.Caller.ID)
		}
		return err
	})
	if err == nil && !s.there() {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, renderSubscription(tracker.PlaceOf(r, a), n, s))
}

// PUT /repos/{owner}/{repo}/issues/{number}/subscription
//
// SetSubscription subscribes the caller to an issue or pull request; with
// ignored it silences the issue, and with subscribed false it unsubscribes.
// Errors: 404, 410, 422.
func (api *API) SetSubscription(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.find(r, a)
	if err != nil {
		return err
	}
	body, err := web.ReadOptional(r, "Subscription")
	if err != nil {
		return err
	}
	subscribed, ignored := body.Bool("subscribed"), body.Bool("ignored")
	if err := body.Err(); err != nil {
		return err
	}
	wish := Subscribe
	if ignored.Value {
		wish = Ignore
	} else if !subscribed.Or(true) {
		wish = Unsubscribe
	}
	s, err := api.s.Subscribe(r.Context(), a, i.Number, wish)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, renderSubscription(tracker.PlaceOf(r, a), i.Number, s))
}

// DELETE /repos/{owner}/{repo}/issues/{number}/subscription
//
// DeleteSubscription unsubscribes the caller, for good: having a part in the
// issue subscribes no more, until the caller asks for it: 204. Errors: 404, 410.
func (api *API) DeleteSubscription(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.find(r, a)
	if err != nil {
		return err
	}
	if _, err := api.s.Subscribe(r.Context(), a, i.Number, Unsubscribe); err != nil {
		return err
	}
	return web.NoContent(w)
}

package notification

import (
	"net/http"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue/subscription"
	"arbor/internal/repo"
	"arbor/internal/star"
	"arbor/internal/web"
)

// API answers the requests about notifications.
type API struct{ s *Service }

// NewAPI returns the handlers of the service.
func NewAPI(s *Service) *API { return &API{s} }

// pollInterval is the recommended polling interval in seconds.
const pollInterval = "60"

// GET /notifications
//
// List answers a page of the caller's unread threads, the latest first; with all those that were read,
// too. 304 when no notification was added or marked since If-Modified-Since. Error: 422.
func (api *API) List(w http.ResponseWriter, r *http.Request) error { return api.list(w, r, 0) }

// GET /repos/{owner}/{repo}/notifications
//
// ListOfRepo is List for the threads of one repository. Error: 422.
func (api *API) ListOfRepo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.list(w, r, a.ID)
}

func (api *API) list(w http.ResponseWriter, r *http.Request, of repo.ID) error {
	f, err := readFilter(r)
	if err != nil {
		return err
	}
	f.Repo = of
	caller := account.CallerFrom(r.Context())
	w.Header().Set("X-Poll-Interval", pollInterval)
	at, changed, err := api.s.Changed(r.Context(), caller)
	if err != nil {
		return err
	}
	web.LastModified(w, at)
	if since, ok := modifiedSince(r); ok && !changed(since) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	page := web.ReadPage(r)
	found, total, err := api.s.List(r.Context(), caller, f, page)
	if err != nil {
		return err
	}
	web.Link(w, r, page, total)
	info := web.From(r.Context())
	out := make([]*threadJSON, 0, len(found.Threads))
	for _, t := range found.Threads {
		if a := found.Repos[t.RepoID]; a != nil {
			out = append(out, newThread(t, a, info))
		}
	}
	return web.JSON(w, r, http.StatusOK, out)
}

// modifiedSince reads If-Modified-Since, which counts where there is no If-None-Match (RFC 9110, 13.1.3).
func modifiedSince(r *http.Request) (since time.Time, ok bool) {
	if r.Header.Get("If-None-Match") != "" {
		return since, false
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	return since, err == nil
}

func readFilter(r *http.Request) (f Filter, err error) {
	for name, value := range map[string]*bool{"all": &f.All, "participating": &f.Participating} {
		v, err := web.QueryEnum(r, Resource, name, "false", "true")
		if err != nil {
			return f, err
		}
		*value = v == "true"
	}
	for name, value := range map[string]*db.Time{"since": &f.Since, "before": &f.Before} {
		at, err := web.QueryTime(r, Resource, name)
		if err != nil {
			return f, err
		}
		if !at.IsZero() {
			*value = max(db.FromTime(at), 1)
		}
	}
	return f, nil
}

// PUT /notifications
//
// MarkAll marks the caller's threads up to last_read_at as read, now unless it is
// given:
// 205. Error: 422.
func (api *API) MarkAll(w http.ResponseWriter, r *http.Request) error { return api.mark(w, r, nil) }

// PUT /repos/{owner}/{repo}/notifications
//
// MarkRepo is MarkAll for the threads of one repository. Error: 422.
func (api *API) MarkRepo(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	return api.mark(w, r, a)
}

func (api *API) mark(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	body, err := web.ReadOptional(r, Resource)
	if err != nil {
		return err
	}
	given, read := body.String("last_read_at", 100), body.Bool("read")
	if !read.Or(true) {
		body.Wrong("read", errs.InvalidField, "threads cannot be marked as unread")
	}
	until := readUntil(&body.Faults, given.Value)
	if err := body.Err(); err != nil {
		return err
	}
	if a != nil {
		err = api.s.MarkRepo(r.Context(), a, until)
	} else {
		err = api.s.MarkAll(r.Context(), account.CallerFrom(r.Context()), until)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusResetContent)
	return nil
}

// ReadUntil reads the time up to which threads are marked; an empty text means no time. Error: 422.
func ReadUntil(text string) (db.Time, error) {
	f := web.Faults{Resource: Resource}
	until := readUntil(&f, text)
	return until, f.Err()
}

func readUntil(f *web.Faults, text string) db.Time {
	if text == "" {
		return 0
	}
	at, ok := web.ParseTime(text)
	if !ok {
		f.Wrong("last_read_at", errs.InvalidField, "must be a time such as 2011-04-22T13:33:48Z")
	}
	return max(db.FromTime(at), 1)
}

// GET /notifications/threads/{thread_id}
//
// Get answers one thread of the caller's. Error: 404.
func (api *API) Get(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "thread_id")
	if err != nil {
		return err
	}
	found, err := api.s.Thread(r.Context(), account.CallerFrom(r.Context()), id)
	if err != nil {
		return err
	}
	t := found.Threads[0]
	a := found.Repos[t.RepoID]
	if a == nil {
		return errs.Absent()
	}
	return web.JSON(w, r, http.StatusOK, newThread(t, a, web.From(r.Context())))
}

// PATCH /notifications/threads/{thread_id}
//
// MarkRead marks a thread as read: 205. Error: 404.
func (api *API) MarkRead(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "thread_id")
	if err != nil {
		return err
	}
	if err := api.s.MarkRead(r.Context(), account.CallerFrom(r.Context()), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusResetContent)
	return nil
}

// DELETE /notifications/threads/{thread_id}
//
// Finish removes a thread, which is done: 204. Error: 404.
func (api *API) Finish(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "thread_id")
	if err != nil {
		return err
	}
	if err := api.s.Finish(r.Context(), account.CallerFrom(r.Context()), id); err != nil {
		return err
	}
	return web.NoContent(w)
}

// GET /notifications/threads/{thread_id}/subscription
//
// GetSubscription answers how the caller is subscribed to the subject of a thread, by own wish or by having a
// part in it. Error: 404 when not at all.
func (api *API) GetSubscription(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "thread_id")
	if err != nil {
		return err
	}
	s, err := api.s.Subscription(r.Context(), account.CallerFrom(r.Context()), id)
	if err == nil && !s.Subscribed && !s.Ignored {
		err = errs.Absent()
	}
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newSubscription(id, s, web.From(r.Context())))
}

// PUT /notifications/threads/{thread_id}/subscription
//
// SetSubscription subscribes the caller to the subject of a thread; with ignored it causes no more
// notifications. Errors: 404, 422.
func (api *API) SetSubscription(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "thread_id")
	if err != nil {
		return err
	}
	subscribed, ignored, err := star.ReadSubscription(r)
	if err != nil {
		return err
	}
	wish := subscription.Subscribe
	if ignored {
		wish = subscription.Ignore
	} else if !subscribed {
		wish = subscription.Unsubscribe
	}
	s, err := api.s.Subscribe(r.Context(), account.CallerFrom(r.Context()), id, wish)
	if err != nil {
		return err
	}
	return web.JSON(w, r, http.StatusOK, newSubscription(id, s, web.From(r.Context())))
}

// DELETE /notifications/threads/{thread_id}/subscription
//
// DeleteSubscription unsubscribes the caller: from then on only a mention notifies of the subject, or
// watching its repository: 204. Error: 404.
func (api *API) DeleteSubscription(w http.ResponseWriter, r *http.Request) error {
	id, err := web.Number(r, "thread_id")
	if err != nil {
		return err
	}
	_, err = api.s.Subscribe(r.Context(), account.CallerFrom(r.Context()), id, subscription.Unsubscribe)
	if err != nil {
		return err
	}
	return web.NoContent(w)
}

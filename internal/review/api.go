package review

import (
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of reviews and review comments.
type API struct {
	s       *Service
	answers *repo.Answers
}

// cacheBytes is the size of the cache of rendered responses.
const cacheBytes = 16 << 20

// NewAPI returns the handlers of s.
func NewAPI(s *Service) *API {
	return &API{s, repo.NewAnswers(cacheBytes)}
}

// find reads the pull request with number {number}. Error: 404.
func (api *API) find(r *http.Request, a *repo.Access) (*pull.Pull, *issue.Issue, error) {
	n, err := web.Number(r, "number")
	if err != nil {
		return nil, nil, err
	}
	return api.s.pulls.Find(r.Context(), a, n)
}

// findReview reads the review with the id {id} and the issue of its pull request. Error: 404.
func (api *API) findReview(r *http.Request, a *repo.Access) (*issue.Issue, *Review, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return nil, nil, err
	}
	_, i, err := api.find(r, a)
	if err != nil {
		return nil, nil, err
	}
	v, err := api.s.FindReview(r.Context(), a, i, id)
	return i, v, err
}

// GET /repos/{owner}/{repo}/pulls/{number}/reviews
//
// List lists the reviews of a pull request, oldest first. Pending reviews are included only for their
// author. Error: 404.
func (api *API) List(out *web.Output, r *http.Request, a *repo.Access) error {
	p, _, err := api.find(r, a)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var list []*Review
	var total int64
	err = api.s.db.Read(out.Context(), func(tx *db.Tx) (err error) {
		list, total, err = listReviews(tx, p.IssueID, account.IDOf(a.Caller), page)
		return err
	})
	if err != nil {
		return err
	}
	web.Link(out, r, page, total)
	return api.s.renderReviews(out, a, p.Number, list, false)
}

// POST /repos/{owner}/{repo}/pulls/{number}/reviews
//
// Create creates a review with the event APPROVE, REQUEST_CHANGES or COMMENT, or a pending one without an
// event. Errors: 403, 404, 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, i, err := api.find(r, a)
	if err != nil {
		return err
	}
	if err := mayWrite(a, i.Locked); err != nil {
		return err
	}
	body, err := web.ReadOptional(r, Resource)
	if err != nil {
		return err
	}
	n, err := ReadReview(body)
	if err != nil {
		return err
	}
	v, err := api.s.Create(r.Context(), a, p, i, n)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, p.Number, v)
}

// GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}
//
// Get returns one review. Error: 404.
func (api *API) Get(out *web.Output, r *http.Request, a *repo.Access) error {
	i, v, err := api.findReview(r, a)
	if err != nil {
		return err
	}
	return api.s.renderReviews(out, a, i.Number, []*Review{v}, true)
}

// PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}
//
// Edit changes the text of the caller's own review. Errors: 403, 404, 422.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, v, err := api.findReview(r, a)
	if err != nil {
		return err
	}
	text, err := readBody(r, Resource)
	if err != nil {
		return err
	}
	if v, err = api.s.Edit(r.Context(), a, i, v.ID, text); err != nil {
		return err
	}
	return api.answer(w, r, a, i.Number, v)
}

// DELETE /repos/{owner}/{repo}/pulls/{number}/reviews/{id}
//
// Delete deletes the caller's pending review and returns it. Errors: 403, 404, 422.
func (api *API) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, v, err := api.findReview(r, a)
	if err != nil {
		return err
	}
	if v, err = api.s.Delete(r.Context(), a, i, v.ID); err != nil {
		return err
	}
	return api.answer(w, r, a, i.Number, v)
}

// GET /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/comments
//
// ListReviewComments lists the comments of a review, oldest first. Error: 404.
func (api *API) ListReviewComments(out *web.Output, r *http.Request, a *repo.Access) error {
	_, v, err := api.findReview(r, a)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	var list []*Comment
	var total int64
	err = api.s.db.Read(out.Context(), func(tx *db.Tx) (err error) {
		list, total, err = commentsOfReview(tx, v.ID, page)
		return err
	})
	if err != nil {
		return err
	}
	web.Link(out, r, page, total)
	return api.s.renderComments(out, a, list, false)
}

// POST /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/events
//
// Submit submits the caller's pending review. Errors: 403, 404, 422.
func (api *API) Submit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, v, err := api.findReview(r, a)
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("event")
	event, text := readVerdict(body), body.String("body", issue.MaxBody)
	if err := body.Err(); err != nil {
		return err
	}
	v, err = api.s.Submit(r.Context(), a, i, v.ID, verdicts[event.Value], NewSummary(text.Value))
	if err != nil {
		return err
	}
	return api.answer(w, r, a, i.Number, v)
}

// PUT /repos/{owner}/{repo}/pulls/{number}/reviews/{id}/dismissals
//
// Dismiss dismisses a review. It requires push access. Errors: 403, 404, 422.
func (api *API) Dismiss(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, v, err := api.findReview(r, a)
	if err != nil {
		return err
	}
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return err
	}
	body.Require("message")
	message := body.String("message", issue.MaxBody)
	body.Enum("event", "DISMISS")
	if message.Value != "" && strings.TrimSpace(message.Value) == "" {
		body.Wrong("message", errs.MissingField, "message can't be blank")
	}
	if err := body.Err(); err != nil {
		return err
	}
	if v, err = api.s.Dismiss(r.Context(), a, i, v.ID, message.Value); err != nil {
		return err
	}
	return api.answer(w, r, a, i.Number, v)
}

// Caches returns statistics of the caches.
func (api *API) Caches() []cache.Stats {
	return []cache.Stats{api.answers.Stats("review_answers")}
}

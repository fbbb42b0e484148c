package comment

import (
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// API implements the HTTP handlers of comments.
type API struct {
	s       *Service
	repos   *repo.Service
	answers *repo.Answers
}

// NewAPI returns the handlers of s.
func NewAPI(s *Service, repos *repo.Service) *API { return &API{s, repos, s.issues.Answers()} }

// find reads the comment with the id {id}. Errors: those of ByID.
func (api *API) find(r *http.Request, a *repo.Access) (*Comment, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return nil, err
	}
	return api.s.ByID(r.Context(), a, id)
}

// enabledByID reads a comment of a repository. Errors: 404, 410.
func enabledByID(tx *db.Tx, a *repo.Access, id int64) (*Comment, error) {
	c, err := byID(tx, a.ID, id)
	if err != nil {
		return nil, err
	}
	return c, issue.Enabled(a.Repo, &issue.Issue{Pull: c.Pull})
}

// readSince reads the parameter since (decision 25). Error: 422.
func readSince(r *http.Request) (db.Time, error) {
	t, err := web.QueryTime(r, Resource, "since")
	return db.FromTime(t), err
}

// GET /repos/{owner}/{repo}/issues/{number}/comments
//
// List lists the comments on an issue or pull request, oldest first. since selects those updated at or
// after that time. Errors: 404, 410, 422.
func (api *API) List(out *web.Output, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	since, err := readSince(r)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	return api.render(out, a, false, func(tx *db.Tx) ([]*Comment, error) {
		i, err := issue.EnabledByNumber(tx, a, n)
		if err != nil {
			return nil, err
		}
		l := list{issue: i, since: since}
		found, total, err := l.page(tx, page)
		tx.OnCommit(func() { web.Link(out, r, page, total) })
		return found, err
	})
}

// GET /repos/{owner}/{repo}/issues/comments
//
// ListOfRepo lists the comments on all issues and pull requests of a repository according to sort (created,
// updated), direction and since. Errors: 410, 422.
func (api *API) ListOfRepo(out *web.Output, r *http.Request, a *repo.Access) error {
	if err := issue.Enabled(a.Repo, nil); err != nil {
		return err
	}
	sort, err := web.QueryEnum(r, Resource, "sort", "", "created", "updated")
	if err != nil {
		return err
	}
	direction, err := web.QueryEnum(r, Resource, "direction", "asc", "desc")
	if err != nil {
		return err
	}
	since, err := readSince(r)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	l := list{repoID: a.ID, since: since, updated: sort == "updated", desc: sort != "" && direction == "desc"}
	return api.render(out, a, false, func(tx *db.Tx) ([]*Comment, error) {
		found, total, err := l.page(tx, page)
		tx.OnCommit(func() { web.Link(out, r, page, total) })
		return found, err
	})
}

// GET /repos/{owner}/{repo}/issues/comments/{id}
//
// Get returns one comment. Errors: 404, 410.
func (api *API) Get(out *web.Output, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "id")
	if err != nil {
		return err
	}
	return api.renderOne(out, a, func(tx *db.Tx) (*Comment, error) {
		c, err := enabledByID(tx, a, id)
		if err != nil {
			return nil, err
		}
		web.LastModified(out, c.UpdatedAt.Time())
		return c, nil
	})
}

// POST /repos/{owner}/{repo}/issues/{number}/comments
//
// Create adds a comment to an issue or pull request. A locked one requires push access (decision 34).
// Errors: 403, 404, 410, 422.
func (api *API) Create(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.s.issues.Requested(r, a)
	if err != nil {
		return err
	}
	if err := mayWrite(a, i.Locked); err != nil {
		return err
	}
	text, err := readText(r)
	if err != nil {
		return err
	}
	made, err := api.s.Create(r.Context(), a, i.Number, text)
	if err != nil {
		return err
	}
	w.Header().Set("Location", issuekit.AddressesOf(r, a).API+"/issues/comments/"+strconv.FormatInt(made.ID, 10))
	return api.answer(w, r, a, http.StatusCreated, made)
}

// readText reads the text of a comment from a request. Errors: 400; those of NewText.
func readText(r *http.Request) (issue.Text, error) {
	body, err := web.ReadObject(r, Resource)
	if err != nil {
		return issue.Text{}, err
	}
	text := body.String("body", 0)
	if err := body.Err(); err != nil {
		return issue.Text{}, err
	}
	return NewText(text.Value)
}

// answer writes one comment as the response.
func (api *API) answer(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, c *Comment) error {
	return web.Answer(w, r, status, func(out *web.Output) error {
		return api.renderOne(out, a, func(*db.Tx) (*Comment, error) { return c, nil })
	})
}

// PATCH /repos/{owner}/{repo}/issues/comments/{id}
//
// Edit changes a comment. Only its author and users with push access may do so. Errors: 403, 404, 410, 422.
func (api *API) Edit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.find(r, a)
	if err != nil {
		return err
	}
	if err := mayEdit(a, c); err != nil {
		return err
	}
	text, err := readText(r)
	if err != nil {
		return err
	}
	changed, err := api.s.Edit(r.Context(), a, c, text)
	if err != nil {
		return err
	}
	return api.answer(w, r, a, http.StatusOK, changed)
}

// DELETE /repos/{owner}/{repo}/issues/comments/{id}
//
// Delete deletes a comment: 204. Only its author and users with push access may do so. Errors: 403, 404,
// 410.
func (api *API) Delete(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.find(r, a)
	if err != nil {
		return err
	}
	if err := api.s.Delete(r.Context(), a, c); err != nil {
		return err
	}
	return web.NoContent(w)
}

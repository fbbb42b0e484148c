package issue

import (
	"net/http"
	"strings"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// findComment reads the comment that {id} names. Errors: 404, 410 (decision
// 16).
func (api *API) findComment(r *http.Request, a *repo.Access) (*Comment, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return nil, err
	}
	var c *Comment
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		c, err = enabledComment(tx, a, id)
		return err
	})
	return c, err
}

// enabledComment finds a comment. Errors: 404, 410.
func enabledComment(tx *db.Tx, a *repo.Access, id int64) (*Comment, error) {
	c, err := commentByID(tx, a.ID, id)
	if err != nil {
		return nil, err
	}
	return c, enabled(a.Repo, &Issue{Pull: c.Pull})
}

// readSince reads the parameter since (decision 25). Error: 422.
func readSince(r *http.Request) (db.Time, error) {
	t, err := web.QueryTime(r, CommentResource, "since")
	return db.FromTime(t), err
}

// GET /repos/{owner}/{repo}/issues/{number}/comments
//
// ListComments answers a page of the comments on an issue or pull request, the
// oldest first; with since those changed then or later. Errors: 404, 410, 422.
func (api *API) ListComments(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	n, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	since, err := readSince(r)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	return api.answers.Serve(w, r, a, api.commentRendering(a, func(tx *db.Tx) ([]*Comment, error) {
		i, err := ByNumber(tx, a.ID, n)
		if err == nil {
			err = enabled(a.Repo, i)
		}
		if err != nil {
			return nil, err
		}
		l := commentList{issue: i, since: since}
		list, total, err := l.page(tx, page)
		tx.OnCommit(func() { web.Link(w, r, page, total) })
		return list, err
	}, list))
}

// GET /repos/{owner}/{repo}/issues/comments
//
// ListRepoComments answers a page of all comments on the issues and pull
// requests of a repository, by sort (created, updated), direction and since.
// Errors: 410, 422.
func (api *API) ListRepoComments(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	if err := enabled(a.Repo, nil); err != nil {
		return err
	}
	sort, err := web.QueryEnum(r, CommentResource, "sort", "", "created", "updated")
	if err != nil {
		return err
	}
	direction, err := web.QueryEnum(r, CommentResource, "direction", "asc", "desc")
	if err != nil {
		return err
	}
	since, err := readSince(r)
	if err != nil {
		return err
	}
	page := web.ReadPage(r)
	l := commentList{repoID: a.ID, since: since, updated: sort == "updated", desc: sort != "" && direction == "desc"}
	return api.answers.Serve(w, r, a, api.commentRendering(a, func(tx *db.Tx) ([]*Comment, error) {
		list, total, err := l.page(tx, page)
		tx.OnCommit(func() { web.Link(w, r, page, total) })
		return list, err
	}, list))
}

// GET /repos/{owner}/{repo}/issues/comments/{id}
//
// GetComment answers one comment. Errors: 404, 410.
func (api *API) GetComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "id")
	if err != nil {
		return err
	}
	return api.answers.Serve(w, r, a, api.commentRendering(a, func(tx *db.Tx) ([]*Comment, error) {
		c, err := enabledComment(tx, a, id)
		if err != nil {
			return nil, err
		}
		web.LastModified(w, c.UpdatedAt.Time())
		return []*Comment{c}, nil
	}, single))
}

// POST /repos/{owner}/{repo}/issues/{number}/comments
//
// CreateComment comments on an issue or pull request; on a locked one only those
// with push access do (decision 34). Errors: 403, 404, 410, 422.
func (api *API) CreateComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	i, err := api.find(r, a)
	if err != nil {
		return err
	}
	if err := mayComment(a, i.Locked); err != nil {
		return err
	}
	text, err := readComment(r)
	if err != nil {
		return err
	}
	made, err := api.s.CreateComment(r.Context(), a, i.Number, text)
	if err != nil {
		return err
	}
	w.Header().Set("Location", tracker.PlaceOf(r, a).API+"/issues/comments/"+itoa(made.ID))
	return api.answerComment(w, r, a, http.StatusCreated, made)
}

// readComment reads the body of a request that writes a comment. Errors: 400,
// 422 for a blank comment and one of more than MaxBody code points.
func readComment(r *http.Request) (Text, error) {
	body, err := web.ReadObject(r, CommentResource)
	if err != nil {
		return Text{}, err
	}
	body.Require("body")
	text := body.String("body", MaxBody)
	if text.Value != "" && strings.TrimSpace(text.Value) == "" {
		body.Wrong("body", errs.MissingField, "body can't be blank")
	}
	if err := body.Err(); err != nil {
		return Text{}, err
	}
	return NewText(text.Value), nil
}

// answerComment answers with one comment that was just written.
func (api *API) answerComment(w http.ResponseWriter, r *http.Request, a *repo.Access, status int, c *Comment) error {
	return web.Answer(w, r, status, api.commentRendering(a, func(*db.Tx) ([]*Comment, error) {
		return []*Comment{c}, nil
	}, single))
}

// PATCH /repos/{owner}/{repo}/issues/comments/{id}
//
// EditComment changes a comment, for its author and for who has push access.
// Errors: 403, 404, 410, 422.
func (api *API) EditComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.findComment(r, a)
	if err != nil {
		return err
	}
	if err := mayEditComment(a, c); err != nil {
		return err
	}
	text, err := readComment(r)
	if err != nil {
		return err
	}
	changed, err := api.s.EditComment(r.Context(), a, c, text)
	if err != nil {
		return err
	}
	return api.answerComment(w, r, a, http.StatusOK, changed)
}

// DELETE /repos/{owner}/{repo}/issues/comments/{id}
//
// DeleteComment deletes a comment, for its author and for who has push access:
// 204. Errors: 403, 404, 410.
func (api *API) DeleteComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.findComment(r, a)
	if err != nil {
		return err
	}
	if err := api.s.DeleteComment(r.Context(), a, c); err != nil {
		return err
	}
	return web.NoContent(w)
}

package review

import (
	"context"
	"net/http"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// findComment reads the comment with the id {id}. Error: 404.
func (api *API) findComment(r *http.Request, a *repo.Access) (*Comment, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return nil, err
	}
	return api.s.FindComment(r.Context(), a, id)
}

// list renders a page of comments according to the parameters sort, direction and since. which returns the
// column and its value that select the comments. Errors: 422, those of which.
func (api *API) list(
	out *web.Output, r *http.Request, a *repo.Access, which func() (column string, id any, err error),
) error {
	var l commentList
	sort, err := web.QueryEnum(r, CommentResource, "sort", "", "created", "updated", "created_at")
	if err != nil {
		return err
	}
	direction, err := web.QueryEnum(r, CommentResource, "direction", "asc", "desc")
	if err != nil {
		return err
	}
	since, err := web.QueryTime(r, CommentResource, "since")
	if err != nil {
		return err
	}
	l.since, l.updated, l.desc = db.FromTime(since), sort == "updated", sort != "" && direction == "desc"
	if l.column, l.id, err = which(); err != nil {
		return err
	}
	var list []*Comment
	var total int64
	page := web.ReadPage(r)
	err = api.s.db.Read(r.Context(), func(tx *db.Tx) (err error) {
		list, total, err = l.page(tx, page)
		return err
	})
	if err != nil {
		return err
	}
	web.Link(out, r, page, total)
	return api.s.renderComments(out, a, list, false)
}

// GET /repos/{owner}/{repo}/pulls/{number}/comments
//
// ListComments lists the review comments of a pull request. Errors: 404, 422.
func (api *API) ListComments(out *web.Output, r *http.Request, a *repo.Access) error {
	return api.list(out, r, a, func() (string, any, error) {
		p, _, err := api.find(r, a)
		if err != nil {
			return "", 0, err
		}
		return "issue_id", p.IssueID, nil
	})
}

// GET /repos/{owner}/{repo}/pulls/comments
//
// ListRepoComments lists the review comments of all pull requests of a repository. Error: 422.
func (api *API) ListRepoComments(out *web.Output, r *http.Request, a *repo.Access) error {
	return api.list(out, r, a, func() (string, any, error) { return "repo_id", a.ID, nil })
}

// POST /repos/{owner}/{repo}/pulls/{number}/comments
//
// CreateComment adds a comment on changed lines or on a file, or with in_reply_to a reply. Errors: 403,
// 404, 422.
func (api *API) CreateComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	p, i, err := api.find(r, a)
	if err != nil {
		return err
	}
	if err := mayWrite(a, i.Locked); err != nil {
		return err
	}
	body, err := web.ReadObject(r, CommentResource)
	if err != nil {
		return err
	}
	n, err := ReadComment(body)
	if err != nil {
		return err
	}
	made, err := api.s.addTo(r.Context(), a, p, i, n)
	if err != nil {
		return err
	}
	return api.created(w, r, a, made)
}

func (api *API) created(w http.ResponseWriter, r *http.Request, a *repo.Access, made *Comment) error {
	at := web.From(r.Context()).API(web.Path("repos", a.Owner.Login, a.Name))
	w.Header().Set("Location", at+"/pulls/comments/"+strconv.FormatInt(made.ID, 10))
	return api.answerComment(w, r, a, http.StatusCreated, made)
}

// POST /repos/{owner}/{repo}/pulls/{number}/comments/{id}/replies
//
// Reply adds a reply to a comment of the pull request. Errors: 403, 404, 422.
func (api *API) Reply(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	id, err := web.Number(r, "id")
	if err != nil {
		return err
	}
	p, i, err := api.find(r, a)
	if err != nil {
		return err
	}
	if err := mayWrite(a, i.Locked); err != nil {
		return err
	}
	text, err := readBody(r, CommentResource)
	if err != nil {
		return err
	}
	made, err := api.s.CreateComment(r.Context(), a, p, i, NewComment{Text: text, ReplyTo: id})
	if err != nil {
		return err
	}
	return api.created(w, r, a, made)
}

// readBody reads a request body that has only a text, which the operation checks.
func readBody(r *http.Request, resource string) (issue.Text, error) {
	body, err := web.ReadObject(r, resource)
	if err != nil {
		return issue.Text{}, err
	}
	text := body.String("body", 0)
	return issue.NewText(text.Value), body.Err()
}

// GET /repos/{owner}/{repo}/pulls/comments/{id}
//
// GetComment returns one comment. Error: 404.
func (api *API) GetComment(out *web.Output, r *http.Request, a *repo.Access) error {
	c, err := api.findComment(r, a)
	if err != nil {
		return err
	}
	return api.s.renderComments(out, a, []*Comment{c}, true)
}

// PATCH /repos/{owner}/{repo}/pulls/comments/{id}
//
// EditComment changes a comment. Only its author and users with push access may do so. Errors: 403, 404,
// 422.
func (api *API) EditComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := api.findComment(r, a)
	if err != nil {
		return err
	}
	if err := mayEdit(a, c.AuthorID, c.Locked); err != nil {
		return err
	}
	text, err := readBody(r, CommentResource)
	if err != nil {
		return err
	}
	changed, err := api.s.EditComment(r.Context(), a, c, text)
	if err != nil {
		return err
	}
	return api.answerComment(w, r, a, http.StatusOK, changed)
}

// DELETE /repos/{owner}/{repo}/pulls/comments/{id}
//
// DeleteComment deletes a comment: 204. Only its author and users with push access may do so. Errors: 403,
// 404.
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

// subject calls Subject for the comment with the id {id}.
func (api *API) subject(r *http.Request, a *repo.Access) (reaction.Subject, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return reaction.Subject{}, err
	}
	return api.s.Subject(r.Context(), a, id)
}

// Subject returns a comment as a subject of reactions. A pending comment cannot have reactions. Error: 404.
func (s *Service) Subject(ctx context.Context, a *repo.Access, id int64) (reaction.Subject, error) {
	c, err := s.FindComment(ctx, a, id)
	if err == nil && c.Pending {
		err = errs.Absent()
	}
	if err != nil {
		return reaction.Subject{}, err
	}
	return reaction.Subject{Kind: reaction.ReviewComment, ID: c.ID, Locked: c.Locked,
		Changed: func(tx *db.Tx) error {
			return noteReaction(tx, a.ID, c.ID)
		}}, nil
}

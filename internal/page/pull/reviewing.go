package pull

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/web"
)

// POST /{owner}/{repo}/pull/{number}/comments
//
// Comment says something of lines of the pull request, or with reply_to answers a comment: at once, or with
// review=1 as a part of the viewer's review, which is begun if need be.
func (p *Pages) Comment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	n := review.NewComment{Text: issue.NewText(f.Get("body")), Pending: f.Checked("review")}
	if to, err := strconv.ParseInt(f.Get("reply_to"), 10, 64); err == nil {
		n.ReplyTo = to
	} else {
		n.Anchor = anchorOf(f)
	}
	var made *review.Comment
	err = p.change(r, a, account.Pull, func(ctx context.Context, number int64) (err error) {
		made, err = p.talk.Reviews.AddComment(ctx, a, number, n)
		return err
	})
	if err != nil {
		return p.refused(w, r, a, f, err)
	}
	return page.SeeOther(w, r, back(r, a, f, "discussion_r"+strconv.FormatInt(made.ID, 10)))
}

// anchorOf returns the position of a comment.
func anchorOf(f page.Form) review.Anchor {
	at := review.Anchor{Commit: git.SHA(f.Get("commit")), Path: f.Get("path"), Side: review.Right}
	if f.Text("line") == "" {
		at.Whole = true
		return at
	}
	if f.Get("side") == "LEFT" {
		at.Side = review.Left
	}
	line, err := strconv.ParseInt(f.Text("line"), 10, 64)
	if err != nil || line < 1 {
		line = -1 // in no diff
	}
	at.Spot.Line = line
	if start, err := strconv.ParseInt(f.Text("start"), 10, 64); err == nil && start != line {
		at.Spot.Start, at.Spot.Line = min(start, line), max(start, line)
		if at.Spot.Start < 1 {
			at.Spot.Start = -1
		}
		at.StartSide = at.Side
	}
	return at
}

type editView struct {
	page.Frame
	To     string
	Text   string
	Return string
}

// comment reads the comment that the address names. Error: 404.
func (p *Pages) comment(r *http.Request, a *repo.Access) (*review.Comment, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return nil, err
	}
	return p.talk.Reviews.FindComment(r.Context(), a, id)
}

// GET /{owner}/{repo}/pull/{number}/comments/{id}
//
// EditComment shows the form that edits a review comment. Error: 404.
func (p *Pages) EditComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	v, err := p.editing(r, a, r.URL.Query())
	return p.t.Show(w, r, "edit.html", v, err)
}

func (p *Pages) editing(r *http.Request, a *repo.Access, values url.Values) (*editView, error) {
	v := &editView{To: at(r, a) + "/comments" + web.Path(web.Param(r, "id")),
		Return: page.ReturnTo(values.Get("return_to"), at(r, a))}
	c, err := p.comment(r, a)
	if err != nil {
		return nil, err
	}
	v.Text = c.Body
	v.Frame, err = p.kit.RepoFrame(r, a, "pulls", "Edit comment")
	return v, err
}

// POST /{owner}/{repo}/pull/{number}/comments/{id}
//
// SaveComment changes the text of a review comment, or with delete=1 deletes it.
func (p *Pages) SaveComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	if f.Checked("delete") {
		return p.led(w, r, a, f, "", orEmpty(p.deleteComment(r, a)))
	}
	if err = p.changeComment(r, a, f.Get("body")); err == nil {
		return page.SeeOther(w, r, back(r, a, f, "discussion_r"+web.Param(r, "id")))
	}
	return page.RefuseWith(p.t, w, r, "edit.html", err,
		func(r *http.Request) (*editView, error) { return p.editing(r, a, f.Values) },
		func(v *editView) { v.Text = f.Get("body") })
}

func (p *Pages) deleteComment(r *http.Request, a *repo.Access) error {
	ctx, err := p.kit.Delete(r, a, account.Pull)
	if err != nil {
		return err
	}
	c, err := p.comment(r, a)
	if err != nil {
		return err
	}
	return p.talk.Reviews.DeleteComment(ctx, a, c)
}

func (p *Pages) changeComment(r *http.Request, a *repo.Access, text string) error {
	return p.change(r, a, account.Pull, func(ctx context.Context, _ int64) error {
		c, err := p.comment(r, a)
		if err == nil {
			_, err = p.talk.Reviews.EditComment(ctx, a, c, issue.NewText(text))
		}
		return err
	})
}

// POST /{owner}/{repo}/pull/{number}/reviews
//
// Review submits the viewer's review: with the comments that wait, or a new one. event is COMMENT, APPROVE or
// REQUEST_CHANGES; DISCARD deletes what waits.
func (p *Pages) Review(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	of, i, err := p.of.Pulls.Find(r.Context(), a, number)
	if err != nil {
		return err
	}
	now, err := p.talk.Reviews.Progress(r.Context(), a, i)
	switch {
	case err != nil:
		return err
	case f.Get("event") == "DISCARD" && now.Pending == 0:
		return page.SeeOther(w, r, at(r, a)) // it is gone already
	case f.Get("event") == "DISCARD":
		ctx, err := p.kit.Delete(r, a, account.Pull)
		if err == nil {
			_, err = p.talk.Reviews.Delete(ctx, a, i, now.Pending)
		}
		return p.led(w, r, a, f, "", err)
	}
	made, err := p.submit(r, a, f, of, i, now.Pending)
	if err != nil {
		return p.refused(w, r, a, f, err)
	}
	return page.SeeOther(w, r, at(r, a)+"#pullrequestreview-"+strconv.FormatInt(made.ID, 10))
}

// submit submits the pending review, or without one makes a review.
func (p *Pages) submit(
	r *http.Request, a *repo.Access, f page.Form, of *pull.Pull, i *issue.Issue, pending int64,
) (*review.Review, error) {
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return nil, err
	}
	state, err := review.ParseEvent(f.Get("event"))
	if err != nil {
		return nil, err
	}
	text := review.NewSummary(f.Get("body"))
	if pending != 0 {
		return p.talk.Reviews.Submit(ctx, a, i, pending, state, text)
	}
	return p.talk.Reviews.Create(ctx, a, of, i,
		review.NewReview{State: state, Text: text, Commit: git.SHA(f.Get("commit"))})
}

// POST /{owner}/{repo}/pull/{number}/reviews/{id}
//
// ChangeReview dismisses a review with a message, or changes the text of the viewer's own.
func (p *Pages) ChangeReview(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	reviews := p.talk.Reviews
	switch {
	case f.Checked("dismiss"):
		err = p.changeReview(r, a, account.Push, func(ctx context.Context, i *issue.Issue, id int64) error {
			_, err := reviews.Dismiss(ctx, a, i, id, f.Get("body"))
			return err
		})
	case f.Text("body") == "":
		err = errs.New(errs.Invalid, "A review needs a text here.")
	default:
		err = p.changeReview(r, a, account.Pull, func(ctx context.Context, i *issue.Issue, id int64) error {
			_, err := reviews.Edit(ctx, a, i, id, issue.NewText(f.Get("body")))
			return err
		})
	}
	return p.led(w, r, a, f, "pullrequestreview-"+web.Param(r, "id"), err)
}

// changeReview runs an operation on the review that the address names, see change.
func (p *Pages) changeReview(r *http.Request, a *repo.Access, need account.Role,
	do func(ctx context.Context, i *issue.Issue, id int64) error) error {
	return p.change(r, a, need, func(ctx context.Context, number int64) error {
		id, err := web.Number(r, "id")
		if err != nil {
			return err
		}
		_, i, err := p.of.Pulls.Find(ctx, a, number)
		if err != nil {
			return err
		}
		if _, err := p.talk.Reviews.FindReview(ctx, a, i, id); err != nil {
			return err
		}
		return do(ctx, i, id)
	})
}

package pull

import (
	"context"
	"net/http"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/issue"
	"arbor/internal/page"
	"arbor/internal/page/talk"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// GET /{owner}/{repo}/pull/{number}/comments/{id}/hide
//
// AskHideComment shows the form that hides a review comment, or shows it again. Error: 404.
func (p *Pages) AskHideComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := p.comment(r, a)
	if err != nil {
		return err
	}
	return p.talk.AskWhy(w, r, a, at(r, a)+"/comments"+web.Path(web.Param(r, "id"))+"/hide", c.Hidden)
}

// POST /{owner}/{repo}/pull/{number}/comments/{id}/hide
//
// HideComment hides a review comment for a reason, or shows it again without one.
func (p *Pages) HideComment(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	why, err := talk.Why(f)
	if err == nil {
		err = p.change(r, a, account.Pull, func(ctx context.Context, _ int64) error {
			c, err := p.comment(r, a)
			if err == nil {
				err = p.talk.Reviews.HideComment(ctx, a, c, why)
			}
			return err
		})
	}
	return p.led(w, r, a, f, "discussion_r"+web.Param(r, "id"), err)
}

// GET /{owner}/{repo}/pull/{number}/reviews/{id}/hide
//
// AskHideReview shows the form that hides a review's text, or shows it again. Error: 404.
func (p *Pages) AskHideReview(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	number, err := web.Number(r, "number")
	if err != nil {
		return err
	}
	id, err := web.Number(r, "id")
	if err != nil {
		return err
	}
	_, i, err := p.of.Pulls.Find(r.Context(), a, number)
	if err != nil {
		return err
	}
	v, err := p.talk.Reviews.FindReview(r.Context(), a, i, id)
	if err != nil {
		return err
	}
	return p.talk.AskWhy(w, r, a, at(r, a)+"/reviews"+web.Path(web.Param(r, "id"))+"/hide", v.Hidden)
}

// POST /{owner}/{repo}/pull/{number}/reviews/{id}/hide
//
// HideReview hides a review's text for a reason, or shows it again without one.
func (p *Pages) HideReview(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	why, err := talk.Why(f)
	if err == nil {
		err = p.changeReview(r, a, account.Pull, func(ctx context.Context, i *issue.Issue, id int64) error {
			return p.talk.Reviews.Hide(ctx, a, i.Number, id, why)
		})
	}
	return p.led(w, r, a, f, "pullrequestreview-"+web.Param(r, "id"), err)
}

// MayHide reports that the viewer may hide a text, or show it again: see [issue.MayHide]. hidden is why it is hidden.
func (s *scene) MayHide(author *page.User, hidden string) bool {
	mine := author != nil && s.Viewer != nil && author.ID == s.Viewer.ID
	return s.MaySort || mine && s.MayComment && hidden == ""
}

// Hide is the address of the form that hides the comment or shows it again, in the conversation alone; empty: the
// viewer may not.
func (c *said) Hide() string {
	s := c.Thread.scene
	if s.At == "files" || c.Lone() || !s.MayHide(c.User, c.Hidden) {
		return ""
	}
	return s.Act + "/comments/" + strconv.FormatInt(c.ID, 10) + "/hide"
}

// MayHide reports that the viewer may hide the review's text, or show it again.
func (v *reviewed) MayHide(author *page.User) bool { return v.Scene.MayHide(author, v.Hidden) }

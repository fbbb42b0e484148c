package code

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue/revision"
	"arbor/internal/page"
	"arbor/internal/page/talk"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// editsView is what commentedits.html shows.
type editsView struct {
	page.Frame
	Return  string // the comment in the page of its commit
	SHA     string
	History *talk.TextHistory
}

// GET /{owner}/{repo}/commit/{sha}/comments/{id}/edits
//
// CommentEdits shows who edited a comment on a commit, and what ?edit= changed. Error: 404.
func (p *Pages) CommentEdits(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	of, path, err := p.editedComment(r, a)
	if err != nil {
		return err
	}
	v := &editsView{Return: path + "#" + of.Anchor, SHA: web.Param(r, "sha")}
	if v.Frame, err = p.kit.RepoFrame(r, a, "code", "Edit history"); err != nil {
		return err
	}
	v.History, err = talk.ReadHistory(r, a, p.with.Edits, of, path+"/comments/"+decimal(of.ID)+"/edits", nil)
	if err != nil {
		return err
	}
	return p.t.Page(w, r, "commentedits.html", v)
}

// editedComment finds the comment that the request's address names, and the path of its commit. Error: 404.
func (p *Pages) editedComment(r *http.Request, a *repo.Access) (*talk.EditedText, string, error) {
	id, err := web.Number(r, "id")
	if err != nil {
		return nil, "", err
	}
	c, err := p.with.Comments.ByID(r.Context(), a, id)
	if err == nil && string(c.SHA) != web.Param(r, "sha") {
		err = errs.Absent()
	}
	if err != nil {
		return nil, "", err
	}
	return &talk.EditedText{Text: revision.Text{Kind: revision.OfCommit, ID: id}, Body: c.Body, Author: c.AuthorID,
			CreatedAt: c.CreatedAt, Anchor: "commitcomment-" + decimal(id)},
		web.Path(a.Owner.Login, a.Name, "commit", string(c.SHA)), nil
}

// POST /{owner}/{repo}/commit/{sha}/comments/{id}/edits
//
// DeleteCommentEdit deletes the text before an edit from the history of a comment, and leads to the comment. Errors:
// 403, 404.
func (p *Pages) DeleteCommentEdit(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	ctx, err := p.kit.Delete(r, a, account.Pull)
	if err != nil {
		return err
	}
	of, path, err := p.editedComment(r, a)
	if err != nil {
		return err
	}
	id, ok := web.ParseNumber(f.Get("edit"))
	if !ok {
		return errs.Absent()
	}
	if err := p.with.Edits.Delete(ctx, a, of.Text, id, a.Caller.ID == of.Author); err != nil {
		return err
	}
	return page.SeeOther(w, r, path+"#"+of.Anchor)
}

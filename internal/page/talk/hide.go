package talk

import (
	"net/http"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issuekit"
	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// hideForm is the form that hides a comment, or shows it again.
type hideForm struct {
	target
	To      string
	Hidden  string // why it is hidden; empty: it is shown
	Reasons []string
}

// GET /{owner}/{repo}/issues/{number}/comments/{id}/hide
//
// HideForm shows the form that hides a comment, or shows it again. Error: 404.
func (p *Pages) HideForm(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	c, err := p.comment(r, a)
	if err != nil {
		return err
	}
	return p.AskWhy(w, r, a, act(a, r)+"/comments"+web.Path(web.Param(r, "id"))+"/hide", c.Hidden)
}

// AskWhy shows the form that hides a text of the request's issue or pull request, or shows it again: to is where it is
// sent, now why the text is hidden.
func (p *Pages) AskWhy(w http.ResponseWriter, r *http.Request, a *repo.Access, to string, now issuekit.Hidden) (err error) {
	v := hideForm{To: to, Hidden: now.String(), Reasons: issuekit.HiddenWords()}
	if v.target, err = p.target(r, a, "Hide comment"); err != nil {
		return err
	}
	return p.t.Page(w, r, "hide.html", &v)
}

// Why reads the reason of that form; 0: the text is shown again. Error: 422.
func Why(f page.Form) (issuekit.Hidden, error) {
	why, ok := issuekit.ParseHidden(f.Get("reason"))
	if f.Get("reason") != "" && !ok {
		return 0, errs.New(errs.Invalid, "Choose a reason from the list.")
	}
	return why, nil
}

// POST /{owner}/{repo}/issues/{number}/comments/{id}/hide
//
// Hide hides a comment for a reason, or shows it again without one.
func (p *Pages) Hide(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	why, err := Why(f)
	if err != nil {
		return err
	}
	ctx, err := p.kit.Write(r, a, account.Pull)
	if err != nil {
		return err
	}
	c, err := p.comment(r, a)
	if err != nil {
		return err
	}
	if _, err := p.Comments.Hide(ctx, a, c, why); err != nil {
		return err
	}
	return back(w, r, a, f, "issuecomment-"+web.Param(r, "id"))
}

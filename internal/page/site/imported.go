package site

import (
	"net/http"

	"arbor/internal/account/claim"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
	"arbor/internal/web"
)

type importedView struct {
	view
	List      []claim.Claim
	More      bool // there may be more than are shown
	Mannequin string
	User      string // as they were typed
}

// GET /site/imported
//
// Imported lists users who ask for the texts of people of other servers.
func (p *Pages) Imported(w http.ResponseWriter, r *http.Request) error {
	v, err := p.importedView(r)
	return p.t.Show(w, r, "imported.html", v, err)
}

func (p *Pages) importedView(r *http.Request) (*importedView, error) {
	f, err := p.frame(r, "imported", "Imported texts")
	if err != nil {
		return nil, err
	}
	v := &importedView{view: f, Mannequin: web.QueryOf(r).Get("mannequin")}
	v.List, err = p.Claims.Waiting(r.Context())
	v.More = len(v.List) == claim.MaxShown
	return v, err
}

// POST /site/imported
//
// ChangeImported approves or declines, as do says, that user gets the texts of mannequin, or gives them without a
// request. Errors: 404; the page again, with 422.
func (p *Pages) ChangeImported(w http.ResponseWriter, r *http.Request) error {
	form, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	ctx, err := p.kit.WriteOwn(r, scope.SiteAdmin, false)
	if err != nil {
		return err
	}
	user, mannequin := form.Get("user"), form.Get("mannequin")
	done := "The request of " + user + " was declined."
	given := "The texts of " + mannequin + " belong to " + user + "."
	switch form.Get("do") {
	case "approve":
		done = given
		_, err = p.Claims.Approve(ctx, caller(r), user, mannequin)
	case "give":
		done = given
		if _, err = p.Claims.Give(ctx, caller(r), user, mannequin); errs.Is(err, errs.NotFound) {
			err = errs.New(errs.Invalid, "Nothing was imported of such a person, or there is no such user.")
		}
	default:
		err = p.Claims.Decline(ctx, caller(r), user, mannequin)
	}
	if err == nil {
		return page.Done(w, r, "/site/imported", done)
	}
	return page.RefuseWith(p.t, w, r, "imported.html", notFound(err), p.importedView, func(v *importedView) {
		if form.Get("do") == "give" {
			v.Mannequin, v.User = mannequin, user
		}
	})
}

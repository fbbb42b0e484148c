package settings

import (
	"net/http"

	"arbor/internal/account/claim"
	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/scope"
)

type importedView struct {
	view
	List  []claim.Claim
	Typed string // a login that was not taken
}

// GET /settings/imported
//
// Imported lists the people of other servers whose texts the caller asks for.
func (p *Pages) Imported(w http.ResponseWriter, r *http.Request) error {
	v, err := p.importedView(r)
	return p.t.Show(w, r, "imported.html", v, err)
}

func (p *Pages) importedView(r *http.Request) (*importedView, error) {
	v := &importedView{}
	var err error
	if v.view, err = p.frame(r, "imported", "Imported texts"); err != nil {
		return nil, err
	}
	v.List, err = p.claims.Of(r.Context(), caller(r))
	return v, err
}

// POST /settings/imported
//
// ChangeImported asks for the texts of login, or as do says withdraws that. Errors: the page again, with 422.
func (p *Pages) ChangeImported(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	done, err := p.changeImported(r, f)
	if err == nil {
		return page.Done(w, r, "/settings/imported", done)
	}
	return page.RefuseWith(p.t, w, r, "imported.html", err, p.importedView, func(v *importedView) {
		v.Typed = f.Text("login")
	})
}

// changeImported does what the form says, and says what it did. A request that has ended can be withdrawn.
func (p *Pages) changeImported(r *http.Request, f page.Form) (done string, err error) {
	if f.Get("do") == "withdraw" {
		ctx, err := p.kit.DeleteOwn(r, scope.User, false)
		if err != nil {
			return "", err
		}
		if err = p.claims.Withdraw(ctx, caller(r), f.Get("login")); errs.Is(err, errs.NotFound) {
			err = nil
		}
		return "The request was withdrawn.", err
	}
	ctx, err := p.kit.WriteOwn(r, scope.User, false)
	if err != nil {
		return "", err
	}
	return "An administrator will decide.", p.claims.Ask(ctx, caller(r), f.Text("login"))
}

package signin

import (
	"cmp"
	"net/http"
	"net/url"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/oauth/openid"
	"arbor/internal/page"
)

// signOutParams are the parameters that the form sends again.
var signOutParams = []string{"client_id", "id_token_hint", "post_logout_redirect_uri", "state"}

// signOutView is what signout.html shows: that a program asks its user to sign out here, or why it is not
// answered.
type signOutView struct {
	page.Frame
	Asks   *openid.SignOut // nil: Problem says why
	Fields []field
}

// LeadsTo implements page.Outward.
func (v *signOutView) LeadsTo() string {
	if v.Asks == nil {
		return ""
	}
	return v.Asks.Site()
}

// GET /login/oauth/logout
//
// SignOutForm asks a user who signed out of an OAuth App whether to sign out here as well. Whoever is not
// signed in is led back at once. Errors are shown: 404, 422.
func (p *Pages) SignOutForm(w http.ResponseWriter, r *http.Request) error {
	asked := r.URL.Query()
	v, err := p.signOutView(w, r, asked)
	if err != nil || v == nil {
		return err
	}
	if account.CallerFrom(r.Context()) == nil {
		return page.LeadOut(w, r, cmp.Or(v.Asks.To, "/"))
	}
	for _, name := range signOutParams {
		if value := asked.Get(name); value != "" {
			v.Fields = append(v.Fields, field{name, value})
		}
	}
	return p.t.Page(w, r, "signout.html", v)
}

// POST /login/oauth/logout
//
// SignOut ends the session of the browser, unless the user chose to stay, and leads back to the App. Errors:
// as those of SignOutForm.
func (p *Pages) SignOut(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.signOutView(w, r, f.Values)
	if err != nil || v == nil {
		return err
	}
	if f.Get("answer") == "leave" {
		if err := p.endSession(w, r); err != nil {
			return err
		}
	}
	return page.LeadOut(w, r, cmp.Or(v.Asks.To, "/"))
}

// signOutView reads the request of an App. It answers a request with an error itself, and returns nil.
func (p *Pages) signOutView(w http.ResponseWriter, r *http.Request, asked url.Values) (*signOutView, error) {
	frame, err := p.kit.Frame(r, "Sign out")
	if err != nil {
		return nil, err
	}
	v := &signOutView{Frame: frame}
	v.Asks, err = p.of.OpenID.ReadSignOut(r.Context(), asked)
	if err == nil {
		return v, nil
	}
	v.Asks = nil
	if errs.Is(err, errs.NotFound) {
		v.Problem = &page.Problem{Status: http.StatusNotFound,
			Message: "No program is registered with this client_id."}
	} else if v.Problem, err = page.ProblemOf(err); err != nil {
		return nil, err
	}
	return nil, p.t.Again(w, r, "signout.html", v.Problem, v)
}

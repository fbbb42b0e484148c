package page

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/factor"
	"arbor/internal/account/session"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Sudo is a form of what is dangerous: tokens, keys, owners, deletions, addresses, factors. If the last
// confirmation of the session is too old, the sender must show a password or a factor first. The form is sent again
// with that, in fields of their own, so it is not lost.
func (k *Kit) Sudo(h web.Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if done, err := k.confirm(w, r); done || err != nil {
			return err
		}
		return h(w, r)
	}
}

// SudoOnRepo is Sudo for a form of a repository.
func (k *Kit) SudoOnRepo(h repo.Handler) repo.Handler {
	return func(w http.ResponseWriter, r *http.Request, a *repo.Access) error {
		if done, err := k.confirm(w, r); done || err != nil {
			return err
		}
		return h(w, r, a)
	}
}

// sudoField begins the names of the fields of a confirmation.
const sudoField = "sudo_"

// confirmView is what confirm.html shows.
type confirmView struct {
	Frame
	Fields   []keptField
	Has      factor.State
	Password bool   // the account has one
	Passkeys bool   // they work at this address of the site
	Again    string // leads to the identity provider that made the session; empty: none did
	Leads    string // scheme and host of another site to which the form leads; empty: to none
}

// LeadsTo implements Outward.
func (v *confirmView) LeadsTo() string { return v.Leads }

// confirm takes the confirmation that a form brings, or asks for it; then done is true.
func (k *Kit) confirm(w http.ResponseWriter, r *http.Request) (done bool, err error) {
	if k.Sessions.Confirmed(account.CallerFrom(r.Context())) {
		return false, nil
	}
	return k.ConfirmNow(w, r, "")
}

// ConfirmNow is what Sudo does however short ago the session was confirmed: it takes the confirmation that a
// form brings, or asks for it; then done is true. leads is the scheme and host of another site to which the
// form leads; empty: to none.
func (k *Kit) ConfirmNow(w http.ResponseWriter, r *http.Request, leads string) (done bool, err error) {
	caller := account.CallerFrom(r.Context())
	f, err := ReadForm(r)
	if err != nil {
		return false, err
	}
	problem := &Problem{Status: http.StatusForbidden}
	proof := factor.Proof{Code: f.Get(sudoField + "code"), Passkey: f.Get(sudoField + "passkey"),
		Site: web.From(r.Context()).Site}
	password := f.Get(sudoField + "password")
	asked := password == "" && proof.Code == "" && proof.Passkey == ""
	if !asked {
		err := k.Sessions.Confirm(r.Context(), caller, password, proof, Origin(r))
		if err == nil {
			return false, nil
		}
		if problem, err = ProblemOf(err); err != nil {
			return false, err
		}
	}
	v := &confirmView{Passkeys: factor.CanHave(proof.Site), Leads: leads}
	if v.Frame, err = k.Frame(r, "Confirm access"); err != nil {
		return false, err
	}
	if v.Has, v.Password, err = k.Sessions.Factors(r.Context(), caller); err != nil {
		return false, err
	}
	how, err := k.Sessions.MadeWith(r.Context(), caller)
	if err != nil {
		return false, err
	}
	if provider, is := strings.CutPrefix(how, session.WithProvider); is {
		back, _ := strings.CutPrefix(r.Referer(), web.From(r.Context()).Site)
		v.Again = "/login/oidc/" + url.PathEscape(provider) + "?" +
			url.Values{"again": {"1"}, "return_to": {ReturnTo(back, "/")}}.Encode()
	}
	if !asked {
		v.Problem = problem
	}
	for name, values := range f.Values {
		for _, value := range values {
			if !strings.HasPrefix(name, sudoField) {
				v.Fields = append(v.Fields, keptField{name, value})
			}
		}
	}
	slices.SortStableFunc(v.Fields, func(a, b keptField) int { return strings.Compare(a.Name, b.Name) })
	w.Header().Set("Cache-Control", "no-store")
	return true, (&Templates{plain}).Again(w, r, "confirm.html", problem, v)
}

// ProofOf is the proof of a second factor that a form brings.
func ProofOf(r *http.Request, f Form) factor.Proof {
	return factor.Proof{Code: f.Get("code"), Passkey: f.Get("passkey"), Site: web.From(r.Context()).Site}
}

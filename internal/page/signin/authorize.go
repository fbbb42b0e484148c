package signin

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/oauth"
	"arbor/internal/page"
)

// authorizeView is what authorize.html shows: which program asks for what, or why it does not get it.
type authorizeView struct {
	page.Frame
	Asks   *oauth.Request // nil: Problem says why
	Fields []field        // of the request, which the form sends again
	Other  bool           // the program waits for another user
	Back   string         // this page for another user
	Closed []oauth.Place  // organizations of the user that have not approved the program
}

type field struct{ Name, Value string }

// LeadsTo implements page.Outward.
func (v *authorizeView) LeadsTo() string {
	if v.Asks == nil {
		return ""
	}
	return v.Asks.Site()
}

// GET /login/oauth/authorize
//
// AuthorizeForm asks the user whether an OAuth App shall get what it asks for. Whoever allowed all of it before is
// led back at once. Errors go to the App's address; those of that address, and of an App that is not known, are
// shown here: 404, 422.
func (p *Pages) AuthorizeForm(w http.ResponseWriter, r *http.Request) error {
	asked := r.URL.Query()
	caller := account.CallerFrom(r.Context())
	if (caller == nil || caller.NeedsFactor) && !oauth.IsSilent(asked) {
		return p.enterFirst(w, r, caller, asked)
	}
	v, err := p.authorizeView(w, r, asked)
	if err != nil || v == nil {
		return err
	}
	switch {
	case caller == nil:
		return page.LeadOut(w, r, v.Asks.Unanswered("login_required"))
	case caller.NeedsFactor:
		return page.LeadOut(w, r, v.Asks.Unanswered("interaction_required"))
	}
	allowed, err := p.oauth.Allowed(r.Context(), caller, v.Asks)
	if err != nil {
		return err
	}
	recent := v.Asks.Recent(caller)
	if allowed && recent && v.Asks.Prompt == "" && !v.Other && r.Method == http.MethodGet {
		v.Asks.WithoutAsking = true
		return p.authorize(w, r, v, v.Asks.App.Permissions.String())
	}
	switch {
	case !v.Asks.Silent():
		return p.t.Page(w, r, "authorize.html", v)
	case !recent || v.Other:
		return page.LeadOut(w, r, v.Asks.Unanswered("login_required"))
	default:
		return page.LeadOut(w, r, v.Asks.Unanswered("consent_required"))
	}
}

// enterFirst leads somebody who did not sign in, or must add a second factor first, to where that is done.
func (p *Pages) enterFirst(
	w http.ResponseWriter, r *http.Request, caller *account.Caller, asked url.Values,
) error {
	if caller != nil {
		return page.SeeOther(w, r, "/settings/security")
	}
	q := oauth.Waits(asked, time.Now())
	if q.Get(oauth.AskedAt) != asked.Get(oauth.AskedAt) && page.Asked(r) {
		return page.SeeOther(w, r, "/login?return_to="+url.QueryEscape("/login/oauth/authorize?"+q.Encode()))
	}
	return page.NoCaller()
}

// POST /login/oauth/authorize
//
// Authorize leads the browser back to the OAuth App: with answer=allow with a code, else with an error. seen
// repeats the permissions of a GitHub App that the page listed. If the App demands it, the user shows again
// who it is first. Errors: as those of AuthorizeForm; 403 for users who did not sign in with a password; the
// page again, with 409, for a GitHub App that asks for other permissions now.
func (p *Pages) Authorize(w http.ResponseWriter, r *http.Request) error {
	f, err := page.ReadForm(r)
	if err != nil {
		return err
	}
	v, err := p.authorizeView(w, r, f.Values)
	if err != nil || v == nil {
		return err
	}
	if f.Get("answer") != "allow" {
		return page.LeadOut(w, r, v.Asks.Denied())
	}
	caller := account.CallerFrom(r.Context())
	if !v.Asks.Recent(caller) {
		if !caller.Session {
			return page.LeadOut(w, r, v.Asks.Unanswered("login_required"))
		}
		if done, err := p.kit.ConfirmNow(w, r, v.Asks.Site()); done || err != nil {
			return err
		}
	}
	if _, err := p.oauth.Allowed(r.Context(), caller, v.Asks); err != nil {
		return err
	}
	return p.authorize(w, r, v, f.Get("seen"))
}

// authorizeView reads the request of an App. It answers a request with an error itself, and returns nil.
func (p *Pages) authorizeView(w http.ResponseWriter, r *http.Request, asked url.Values) (*authorizeView, error) {
	frame, err := p.kit.Frame(r, "Authorize a program")
	if err != nil {
		return nil, err
	}
	v := &authorizeView{Frame: frame}
	q, err := p.oauth.Read(r.Context(), asked)
	if told, is := errors.AsType[*oauth.RedirectError](err); is {
		return nil, page.LeadOut(w, r, told.Address())
	}
	if err != nil {
		return nil, p.notAuthorized(w, r, v, err)
	}
	v.Asks = q
	v.Other = q.Login != "" && v.Viewer != nil && account.Fold(q.Login) != account.Fold(v.Viewer.Login)
	sent := oauth.Waits(asked, time.Now())
	for _, name := range q.Sent() {
		if value := sent.Get(name); value != "" {
			v.Fields = append(v.Fields, field{name, value})
		}
	}
	v.Back = "/login/oauth/authorize?" + oauth.Again(asked).Encode()
	if caller := account.CallerFrom(r.Context()); q.App.GitHubApp == 0 && caller != nil {
		var places []oauth.Place
		_, places, err = p.oauth.PlacesOf(r.Context(), caller, q.App.ClientID)
		v.Closed = slices.DeleteFunc(places, func(o oauth.Place) bool { return !o.Closed() })
	}
	return v, err
}

// authorize leads the browser back to the App with a code, if it asks for the permissions that the user saw.
func (p *Pages) authorize(w http.ResponseWriter, r *http.Request, v *authorizeView, seen string) error {
	ctx, err := p.kit.Room(r.Context(), account.CallerFrom(r.Context()))
	var to string
	if err == nil {
		to, err = p.oauth.Authorize(ctx, account.CallerFrom(r.Context()), v.Asks, seen)
	}
	if errs.Is(err, errs.Forbidden) && v.Asks.Silent() {
		return page.LeadOut(w, r, v.Asks.Unanswered("interaction_required"))
	}
	if errs.Is(err, errs.Conflict) && v.Asks.Silent() {
		return page.LeadOut(w, r, v.Asks.Unanswered("consent_required"))
	}
	if err != nil {
		return p.notAuthorized(w, r, v, err)
	}
	return page.LeadOut(w, r, to)
}

// notAuthorized shows why an App gets nothing, to the user alone: on the page that asks, if the user can
// answer it now.
func (p *Pages) notAuthorized(w http.ResponseWriter, r *http.Request, v *authorizeView, err error) error {
	if !errs.Is(err, errs.Conflict) {
		v.Asks = nil
	}
	if errs.Is(err, errs.NotFound) {
		v.Problem = &page.Problem{Status: http.StatusNotFound, Message: "No program is registered with this client_id."}
	} else if v.Problem, err = page.ProblemOf(err); err != nil {
		return err
	}
	return p.t.Again(w, r, "authorize.html", v.Problem, v)
}

package oauth

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/account/token"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
)

// An organization may restrict OAuth Apps: it is closed to those that its owners have not approved. What that means
// for tokens is written in package account (oauthapp.go). Here owners decide, and members ask them to.

// Bounds of what waits for the owners of an organization.
const (
	maxAsked    = 100 // of everybody
	maxAskedBy  = 10  // of one person
	maxToldOf   = 50  // owners who get a mail
	maxPolicy   = 500 // Apps that the list has
	maxPlacesOf = 100 // organizations of one person
)

// Standing is what an organization decided of an OAuth App.
type Standing string

// The standings. Only Approved and ItsOwn let the App in.
const (
	Unasked  Standing = ""      // nobody asked
	Asked    Standing = "asked" // somebody asked, or an approved App was transferred
	Approved Standing = "approved"
	Denied   Standing = "denied"
	ItsOwn   Standing = "owned" // it is the organization's
)

// Approval is an OAuth App in an organization's list.
type Approval struct {
	App       *App
	Standing  Standing
	AskedBy   *account.Account // nil: nobody, or the account was deleted
	UpdatedAt db.Time
}

// Policy is what an organization decided of OAuth Apps.
type Policy struct {
	Restricts bool
	List      []*Approval // what waits first, then the newest first
}

// PolicyOf returns the policy of an organization, for its owners; a nil caller is the operator. Errors: 403, 404.
func (s *Service) PolicyOf(ctx context.Context, caller *account.Caller, org string) (*Policy, error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Policy, error) {
		of, err := orgOf(tx, caller, org, false)
		if err != nil {
			return nil, err
		}
		p := &Policy{}
		if p.Restricts, err = restricts(tx, of.ID); err != nil {
			return nil, err
		}
		p.List, err = approvalsOf(tx, of.ID)
		return p, err
	})
}

// orgOf finds an organization that the caller owns, and holds it for a change; a nil caller is the operator.
// Errors: 403, 404, 422.
func orgOf(tx *db.Tx, caller *account.Caller, login string, hold bool) (of *account.Account, err error) {
	switch {
	case caller != nil && hold:
		return account.HoldOwnedOrg(tx, caller, login)
	case caller != nil:
		return account.OwnedOrg(tx, caller, login)
	case hold:
		of, err = account.Hold(tx, login)
	default:
		of, err = account.ByLogin(tx, login)
	}
	switch {
	case errs.Is(err, errs.NotFound):
		return nil, errs.Newf(errs.NotFound, "organization %q not found", login)
	case err == nil && of.Kind != account.Organization:
		return nil, errs.Newf(errs.Invalid, "%q is not an organization", of.Login)
	}
	return of, err
}

// Restrict has an organization restrict OAuth Apps, or not. What it decided of Apps is kept. Errors: 403, 404.
func (s *Service) Restrict(ctx context.Context, caller *account.Caller, org string, on bool) error {
	return s.db.WriteAs(ctx, rightOf(caller), func(tx *db.Tx) error {
		of, err := orgOf(tx, caller, org, true)
		if err != nil {
			return err
		}
		changed, err := setRestricts(tx, of.ID, on)
		if err != nil || !changed {
			return err
		}
		action := audit.OrgOAuthOpen
		if on {
			action = audit.OrgOAuthRestrict
		}
		return account.Record(tx, action, of, audit.OrgOwner, nil)
	})
}

// Decide approves an OAuth App for an organization, or denies it, also one that was approved. Errors: 403, 404; 422
// for an App of the organization.
func (s *Service) Decide(ctx context.Context, caller *account.Caller, org, client string, approve bool) error {
	return s.db.WriteAs(ctx, rightOf(caller), func(tx *db.Tx) error {
		a, err := heldApp(tx, client)
		if err != nil {
			return err
		}
		of, err := orgOf(tx, caller, org, true)
		if err != nil {
			return err
		}
		if a.Owner.ID == of.ID {
			return errs.Newf(errs.Invalid, "%s belongs to %s and needs no approval.", a.Name, of.Login)
		}
		changed, err := setApproved(tx, of.ID, a.ID, approve)
		if err != nil || !changed {
			return err
		}
		action := audit.OrgOAuthDeny
		if approve {
			action = audit.OrgOAuthApprove
		}
		return a.recordAt(tx, action, of, audit.OrgOwner)
	})
}

// heldApp finds an OAuth App, and holds the row of its owner, so that it stays. Error: 404.
func heldApp(tx *db.Tx, client string) (*App, error) {
	a, err := oauthAppOf(tx, client)
	if err != nil {
		return nil, err
	}
	if err := account.HoldID(tx, a.Owner.ID); err != nil {
		return nil, err
	}
	return oauthAppOf(tx, client)
}

// oauthAppOf finds an OAuth App that is no GitHub App. Error: 404.
func oauthAppOf(tx *db.Tx, client string) (*App, error) {
	a, err := appOf(tx, client)
	if err == nil && a.GitHubApp != 0 {
		err = errs.Absent()
	}
	if errs.Is(err, errs.NotFound) {
		err = errs.Newf(errs.NotFound, "OAuth App %q not found", client)
	}
	return a, err
}

// recordAt records what an organization decided of an App.
func (a *App) recordAt(tx *db.Tx, action audit.Action, of *account.Account, right string) error {
	return account.Record(tx, action, of, right, map[string]any{"oauth_app_id": a.ID, "application": a.Name,
		"owner": a.Owner.Login})
}

// Place is an organization of a person that restricts OAuth Apps, with what it decided of one.
type Place struct {
	Org      *account.Account
	Standing Standing
}

// Closed reports that the organization does not let the App in.
func (p Place) Closed() bool { return p.Standing != Approved && p.Standing != ItsOwn }

// PlacesOf finds an OAuth App, and the organizations that restrict Apps and in which the caller is a member or a
// collaborator, by login; none for a nil caller. Error: 404.
func (s *Service) PlacesOf(
	ctx context.Context, caller *account.Caller, client string,
) (a *App, list []Place, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if a, err = activeApp(tx, client); err != nil {
			return err
		}
		if a.GitHubApp != 0 {
			return errs.Absent()
		}
		list, err = placesOf(tx, account.IDOf(caller), a.ID)
		return err
	})
	return a, list, err
}

// AskApproval asks the owners of an organization to approve an OAuth App. They get a mail the first time. Errors: 403
// for callers who did not sign in with a password; 404 for an organization in which the caller is nobody, and one
// that restricts nothing; 422 for an App that was denied, and for too many that wait.
func (s *Service) AskApproval(ctx context.Context, caller *account.Caller, org, client string) error {
	if err := token.MayAllow(caller); err != nil {
		return err
	}
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		a, err := heldApp(tx, client)
		if err != nil {
			return err
		}
		of, err := account.Hold(tx, org)
		if err != nil {
			return err
		}
		now, err := standingFor(tx, caller.ID, of.ID, a.ID)
		if err != nil {
			return err
		}
		switch now {
		case Denied:
			return errs.Newf(errs.Invalid, "The owners of %s denied %s. Ask them in person to approve it.", of.Login,
				a.Name)
		case Asked, Approved, ItsOwn:
			return nil
		}
		if err := checkAsked(tx, of, caller); err != nil {
			return err
		}
		if err := insertAsked(tx, of.ID, a.ID, caller.ID); err != nil {
			return err
		}
		if err := tellOwners(tx, of, a); err != nil {
			return err
		}
		return a.recordAt(tx, audit.OrgOAuthAsk, of, audit.Self)
	})
}

// standingFor is the standing of an App in an organization in which a person is a member or a collaborator. Error:
// 404.
func standingFor(tx *db.Tx, who, org account.ID, app account.OAuthAppID) (Standing, error) {
	list, err := placesOf(tx, who, app)
	if err != nil {
		return Unasked, err
	}
	for _, p := range list {
		if p.Org.ID == org {
			return p.Standing, nil
		}
	}
	return Unasked, errs.Absent()
}

// checkAsked returns 422 while too many requests wait in an organization.
func checkAsked(tx *db.Tx, of *account.Account, caller *account.Caller) error {
	all, own, err := countAsked(tx, of.ID, caller.ID)
	switch {
	case err != nil:
		return err
	case own >= maxAskedBy:
		return errs.Newf(errs.Invalid, "%d of your requests wait for the owners of %s. Ask again when they have decided.",
			own, of.Login)
	case all >= maxAsked:
		return errs.Newf(errs.Invalid, "%d requests wait for the owners of %s. Ask again when they have decided.", all,
			of.Login)
	}
	return nil
}

// AskedMail tells an owner that somebody asks for the approval of an OAuth App.
const AskedMail mail.Kind = "oauth_asked"

// AskedAbout is what such a mail is about.
type AskedAbout struct {
	Org    account.ID `json:"org"`
	Client string     `json:"client_id"`
}

// tellOwners writes a mail to the owners of an organization.
func tellOwners(tx *db.Tx, of *account.Account, a *App) error {
	owners, err := ownersOf(tx, of.ID)
	for _, id := range owners {
		if err == nil {
			err = mail.Add(tx, mail.Mail{Kind: AskedMail, Account: int64(id), About: AskedAbout{of.ID, a.ClientID}})
		}
	}
	return err
}

// Waiting finds what a mail to an owner is about. Error: 404 for a request that was decided meanwhile, and a reader
// who does not own the organization any more.
func Waiting(tx *db.Tx, about AskedAbout, reader account.ID) (*account.Account, *Approval, error) {
	_, owner, err := account.OrgRole(tx, about.Org, reader)
	if err == nil && !owner {
		err = errs.Absent()
	}
	if err != nil {
		return nil, nil, err
	}
	list, err := approvalsOf(tx, about.Org)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range list {
		if w.App.ClientID == about.Client && w.Standing == Asked {
			of, err := account.ByID(tx, about.Org)
			return of, w, err
		}
	}
	return nil, nil, errs.Absent()
}

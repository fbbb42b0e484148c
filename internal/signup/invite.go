package signup

import (
	"cmp"
	"context"
	"crypto/rand"
	"time"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/team"
)

// How long invitations hold.
const (
	MaxDays     = 30
	DefaultDays = 7
)

// mostInvited is how many invitations of administrators hold at one time.
const mostInvited = 500

// Invite is whom an administrator invites.
type Invite struct {
	Address string // to which the link is mailed; empty: whoever invites hands it over
	Org     string // login of the organization that the person joins; empty: none
	Team    string // slug of its team; empty: none
	Days    int    // how long it holds
}

// Invite invites somebody. Without an address it returns the secret of the link, which nobody can read again. by is the
// acting site administrator; nil: the operator. Errors: 404; 422.
func (s *Service) Invite(ctx context.Context, by *account.Caller, i Invite) (secret string, err error) {
	i.Address = account.Fold(i.Address)
	switch {
	case i.Days < 1 || i.Days > MaxDays:
		return "", errs.Newf(errs.Invalid, "An invitation holds between 1 and %d days.", MaxDays)
	case i.Address != "" && (!account.PlausibleEmail(i.Address) || account.Reserved(i.Address)):
		return "", wrongAddress("This is not an e-mail address.")
	case i.Team != "" && i.Org == "":
		return "", errs.New(errs.Invalid, "Name the organization of the team.")
	}
	err = s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		l := &Link{Address: i.Address, inviterID: account.IDOf(by)}
		if err := s.checkInvite(tx, by, &i, l); err != nil {
			return err
		}
		secret = ""
		var sum []byte
		if i.Address == "" {
			secret = rand.Text()
			sum = digest(secret)
		}
		id, err := insertInvite(tx, l, sum, time.Duration(i.Days)*24*time.Hour)
		if err != nil {
			return err
		}
		told := map[string]any{"invitation_id": id, "by_mail": i.Address != ""}
		if i.Team != "" {
			told["team"] = i.Team
		}
		e := audit.Entry{Action: audit.SignupInvite, Right: audit.SiteAdmin, Changes: told}
		if i.Org != "" {
			e.Org = audit.Named{ID: int64(l.orgID), Name: l.Org}
		}
		if err := audit.Record(tx, e); err != nil || i.Address == "" {
			return err
		}
		return mail.Add(tx, mail.Mail{Kind: InviteMail, Address: i.Address, About: About{ID: id}})
	})
	return secret, err
}

// About is what mails of this package are about.
type About struct {
	ID    int64  `json:"id,omitempty"`    // of a link or a request
	Login string `json:"login,omitempty"` // that was asked for
}

// checkInvite checks whether somebody may be invited, and finds what the invitation names.
func (s *Service) checkInvite(tx *db.Tx, by *account.Caller, i *Invite, l *Link) error {
	if err := mayAdministrate(by); err != nil {
		return err
	}
	state, err := s.state(tx)
	switch {
	case err != nil:
		return err
	case state.Mode == Closed:
		return errs.New(errs.Invalid, "Nobody can be invited: accounts are closed here. Change how accounts begin first.")
	case i.Address != "" && !state.Mail:
		return errs.New(errs.Invalid, "This server sends no mail: leave out the address, and hand the link over.")
	}
	if err := tx.Lock("signup invitations"); err != nil {
		return err
	}
	if n, err := countInvites(tx); err != nil || n >= mostInvited {
		return cmp.Or[error](err, errs.Newf(errs.Invalid, "At most %d invitations are open at one time. Revoke some.", mostInvited))
	}
	if i.Address != "" {
		known, err := account.ByVerified(tx, []string{i.Address})
		if err != nil {
			return err
		}
		if has := known[i.Address]; has != nil {
			return wrongAddress("The account " + has.Login + " has this address already.")
		}
	}
	if i.Org == "" {
		return nil
	}
	return findPlace(tx, i, l)
}

// findPlace finds the organization and the team of an invitation. Error: 422.
func findPlace(tx *db.Tx, i *Invite, l *Link) error {
	org, err := account.ByLogin(tx, i.Org)
	if errs.Is(err, errs.NotFound) || err == nil && org.Kind != account.Organization {
		return errs.Validation(errs.Field{Field: "org", Code: errs.Missing, Message: "No organization has this login."})
	}
	if err != nil {
		return err
	}
	if l.orgID, l.Org = org.ID, org.Login; i.Team == "" {
		return nil
	}
	teams, err := team.SeenBySlug(tx, &account.Caller{SiteAdmin: true}, org.ID, []string{i.Team})
	if err != nil {
		return err
	}
	t := teams[account.Fold(i.Team)]
	if t == nil {
		return errs.Validation(errs.Field{Field: "team", Code: errs.Missing,
			Message: "The organization has no team of this name."})
	}
	l.teamID = t.ID
	return nil
}

// Invitations lists those of administrators that have neither ended nor been used, the newest first.
func (s *Service) Invitations(ctx context.Context) (list []*Link, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*Link, error) { return invites(tx) })
}

// Revoke ends an invitation. Error: 404.
func (s *Service) Revoke(ctx context.Context, by *account.Caller, id int64) error {
	return s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if err := mayAdministrate(by); err != nil {
			return err
		}
		if err := deleteLink(tx, id, false); err != nil {
			return err
		}
		return audit.Record(tx, audit.Entry{Action: audit.SignupRevoke, Right: audit.SiteAdmin,
			Changes: map[string]any{"invitation_id": id}})
	})
}

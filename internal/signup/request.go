package signup

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/admission"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
)

// RequestLasts is how long a request waits for an administrator.
const RequestLasts = 30 * 24 * time.Hour

// mostRequests is how many wait at one time, and mostOfNetwork how many of them from one network, so that no network
// keeps all others out.
const (
	mostRequests  = 1000
	mostOfNetwork = 100
)

// Request is an account that somebody asks for.
type Request struct {
	ID        int64
	Login     string
	Name      string
	Address   string // empty: none
	Verified  bool   // the person gets mail there
	Reason    string
	Network   string // the address from which it was asked; empty: not known
	CreatedAt db.Time

	password string
}

// ask stores a request, ends the link that brought it, and tells the site's administrators. Errors: 404, 422.
func (s *Service) ask(ctx context.Context, p *Person, kept string, from session.Origin) error {
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		b, err := s.begin(tx, p)
		if err != nil {
			return err
		}
		q := &Request{Login: p.Login, Name: strings.TrimSpace(p.Name), Address: p.Address,
			Reason: strings.TrimSpace(p.Reason), password: kept}
		if from.Address.IsValid() {
			q.Network = from.Address.String()
		}
		if b.link != nil {
			q.Address, q.Verified = b.link.Address, true
			if err := deleteLink(tx, b.link.ID, true); err != nil {
				return err
			}
		}
		if err := tx.Lock("signup requests"); err != nil {
			return err
		}
		waiting, err := makeRoom(tx)
		if err != nil {
			return err
		}
		near := slices.DeleteFunc(slices.Clone(waiting), func(network string) bool {
			other, err := netip.ParseAddr(network)
			return err != nil || admission.NetworkOf(other) != admission.NetworkOf(from.Address)
		})
		if len(waiting) >= mostRequests || len(near) >= mostOfNetwork {
			return errs.New(errs.TooManyRequests, "Too many people wait for an account. Try again later.")
		}
		id, err := insertRequest(tx, q)
		if errors.Is(err, db.ErrUnique) {
			err = takenLogin()
		}
		if err != nil {
			return err
		}
		return tellAdministrators(tx, id)
	})
}

// tellAdministrators writes a mail to each site administrator.
func tellAdministrators(tx *db.Tx, id int64) error {
	admins, err := administrators(tx)
	for _, a := range admins {
		if err == nil {
			err = mail.Add(tx, mail.Mail{Kind: WaitingMail, Account: int64(a), About: About{ID: id}})
		}
	}
	return err
}

// Requests lists what waits, the oldest first.
func (s *Service) Requests(ctx context.Context) (list []*Request, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) ([]*Request, error) { return requests(tx) })
}

// RequestByID returns a request that waits. Error: 404.
func RequestByID(tx *db.Tx, id int64) (*Request, error) { return requestByID(tx, id) }

// Approve makes the account of a request, perhaps with another login, and tells the person. by is the acting site
// administrator; nil: the operator. Errors: 404; 422 if the login is taken.
func (s *Service) Approve(
	ctx context.Context, by *account.Caller, id int64, login string,
) (a *account.Account, err error) {
	err = s.decide(ctx, by, id, func(tx *db.Tx, q *Request) error {
		p := &Person{Login: q.Login, Name: q.Name, Address: q.Address}
		if login != "" {
			p.Login = login
		}
		told := map[string]any{"site_admin": false, "by": string(Approval)}
		a, err = register(tx, p, q.password, q.Verified, told)
		if err != nil {
			return err
		}
		return mail.Add(tx, mail.Mail{Kind: ApprovedMail, Account: int64(a.ID)})
	})
	return a, err
}

// Decline ends a request, and tells the person who gets mail. Error: 404.
func (s *Service) Decline(ctx context.Context, by *account.Caller, id int64) (login string, err error) {
	err = s.decide(ctx, by, id, func(tx *db.Tx, q *Request) error {
		login = q.Login
		err := audit.Record(tx, audit.Entry{Action: audit.SignupDecline, Right: audit.SiteAdmin,
			Changes: map[string]any{"login": q.Login}})
		if err != nil || !q.Verified {
			return err
		}
		return mail.Add(tx, mail.Mail{Kind: DeclinedMail, Address: q.Address, About: About{Login: q.Login}})
	})
	return login, err
}

// decide ends a request, and does what was decided.
func (s *Service) decide(
	ctx context.Context, by *account.Caller, id int64, do func(tx *db.Tx, q *Request) error,
) error {
	return s.db.WriteAs(ctx, by, func(tx *db.Tx) error {
		if err := mayAdministrate(by); err != nil {
			return err
		}
		q, err := requestByID(tx, id)
		if errs.Is(err, errs.NotFound) {
			return errs.Newf(errs.NotFound, "request %d not found", id)
		}
		if err != nil {
			return err
		}
		if err := deleteRequest(tx, id); err != nil { // of two decisions one counts
			return err
		}
		return do(tx, q)
	})
}

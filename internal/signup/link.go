package signup

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/team"
)

// AskedLasts is how long a link holds that somebody asked for, once it was sent.
const AskedLasts = 24 * time.Hour

// How often links may be asked for within an hour: by a network, and for one address.
const (
	asksOfNetwork = 20
	asksOfAddress = 5
)

// mostAsked is how many links hold at one time that were asked for with one address.
const mostAsked = 3

// maxSecret is longer than any secret.
const maxSecret = 64

// Link is a link with which an account begins.
type Link struct {
	ID        int64
	Address   string // to which it was mailed; empty: handed over
	Asked     bool   // by who has the address; else an administrator invites
	Sent      bool   // the link exists; else its mail waits
	Inviter   string // login; empty: the operator, or nobody
	Org, Team string // the login, and the team's slug, that the person joins; empty: none
	CreatedAt db.Time
	ExpiresAt db.Time

	orgID     account.ID
	teamID    team.ID
	inviterID account.ID
	may       bool // the inviter administrates the site, or it is the operator
}

// AskLink asks for a mail with a link for an account. It does the same whether an account has the address or not. Errors:
// 404 where accounts do not begin by a mail; 422; 429.
func (s *Service) AskLink(ctx context.Context, address string, from session.Origin) error {
	address = account.Fold(strings.TrimSpace(address))
	if !account.PlausibleEmail(address) || account.Reserved(address) {
		return wrongAddress("This is not an e-mail address.")
	}
	return s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) error {
		state, err := s.state(tx)
		switch {
		case err != nil:
			return err
		case !state.ByMail() || !state.Mail:
			return errs.Absent()
		case state.Mode == Domain && !state.takes(address):
			return wrongAddress("Accounts here begin with addresses of " + strings.Join(state.Domains, ", ") + ".")
		}
		network := fmt.Sprint("signup by ", admission.NetworkOf(from.Address))
		if err := mail.Limit(tx, network, asksOfNetwork, time.Hour); err != nil {
			return err
		}
		if err := mail.Limit(tx, mail.OfAddress("signup", address), asksOfAddress, time.Hour); err != nil {
			return err
		}
		return mail.Add(tx, mail.Mail{Kind: AskedMail, Address: address})
	})
}

func wrongAddress(why string) error {
	return errs.Validation(errs.Field{Field: "address", Code: errs.Custom, Message: why})
}

// NewAskedLink makes the link of a mail that somebody asked for. If an account has the address, it returns that one
// instead. Error: 404 if accounts do not begin so any more.
func (s *Service) NewAskedLink(ctx context.Context, address string) (has *account.Account, secret string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		state, err := s.state(tx)
		if err != nil || !state.letsAsk(address) {
			return cmp.Or[error](err, errs.Absent())
		}
		known, err := account.ByVerified(tx, []string{address})
		if err != nil {
			return err
		}
		if has = known[address]; has != nil {
			if !has.SuspendedAt.IsZero() {
				return errs.Absent()
			}
			return nil
		}
		secret = rand.Text()
		return insertAsked(tx, address, digest(secret))
	})
	return has, secret, err
}

// letsAsk reports whether an account may begin with an address and without an invitation.
func (s *State) letsAsk(address string) bool {
	return s.Direct() || s.Mode == Domain && s.takes(address)
}

// NewInviteLink makes the link of a mail of an administrator. Error: 404 for one that was revoked or used, or does not hold.
func (s *Service) NewInviteLink(ctx context.Context, id int64) (l *Link, secret string, err error) {
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		state, err := s.state(tx)
		if err != nil {
			return err
		}
		if l, err = linkByID(tx, id); err != nil {
			return err
		}
		if !state.holds(l) {
			return errs.Absent()
		}
		secret = rand.Text()
		return setDigest(tx, id, digest(secret))
	})
	return l, secret, err
}

// Link returns the link of a secret. Error: 404 for one that does not hold.
func (s *Service) Link(ctx context.Context, secret string) (l *Link, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		state, err := s.state(tx)
		if err == nil {
			l, err = state.link(tx, secret)
		}
		return err
	})
	return l, err
}

// link finds the link of a secret. Error: 404 for one that does not hold.
func (s *State) link(tx *db.Tx, secret string) (*Link, error) {
	if len(secret) > maxSecret {
		return nil, errs.Absent()
	}
	l, err := linkByDigest(tx, digest(secret))
	if err == nil && !s.holds(l) {
		err = errs.Absent()
	}
	return l, err
}

// holds reports whether the setting and the inviter's right let a link work.
func (s *State) holds(l *Link) bool {
	if l.Asked {
		return s.letsAsk(l.Address)
	}
	return s.Mode != Closed && l.may
}

func digest(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

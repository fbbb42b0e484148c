// Package signup is how people get accounts by themselves: at /join, as the site's setting says.
//
//	signup.go    the setting; State is it with what follows from it
//	link.go      links with which accounts begin, and asking for one by mail
//	invite.go    administrators invite, with a link or a mail
//	join.go      the end of a link, or of the form without one: an account, or a request for one
//	request.go   administrators approve requests, or decline them
//	store.go     the SQL
//
// Tables: signup_settings, signup_links, signup_requests.
//
// Names of accounts are public. Addresses are not: who asks for a link gets the same answer whether an account has the
// address or not, and the mail tells. Nothing is stored of who asks but the mail and, once it was sent, the link.
//
// What becomes of links and requests:
//
//	transition                             links                               requests
//	another mode, a domain left the list   work if the new setting lets them   stay, and are decided
//	used, revoked, declined, approved      end                                 end
//	the inviter is suspended or demoted    do not work until that ends
//	the inviter is deleted                 end
//	the organization is deleted            end
//	the team is deleted                    work, without it
//	an account verifies the address        end with an account without it      approved without it
//	the login is taken meanwhile           any other can be chosen             an administrator chooses another
//	their time is over                     end                                 end
package signup

import (
	"context"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/mail"
	"arbor/internal/team"
)

// Mode is how accounts begin.
type Mode string

// The modes, as they are stored and written.
const (
	Closed     Mode = "closed"     // administrators make them
	Invitation Mode = "invitation" // administrators invite people, as in all modes that follow
	Domain     Mode = "domain"     // whoever gets mail at an address of a listed domain
	Approval   Mode = "approval"   // everybody asks, and an administrator decides
	Open       Mode = "open"       // everybody
)

// Modes are all of them.
var Modes = []Mode{Closed, Invitation, Domain, Approval, Open}

// Settings are what an administrator chooses.
type Settings struct {
	Mode    Mode
	Domains []string // of addresses, folded; for Domain alone
}

// State is the setting, and what holds besides.
type State struct {
	Settings
	Mail bool // the server sends mail
}

// ByMail reports whether people first ask for a link by mail.
func (s *State) ByMail() bool { return s.Mode == Domain || s.Mail && s.Direct() }

// Direct reports whether everybody may ask for an account.
func (s *State) Direct() bool { return s.Mode == Approval || s.Mode == Open }

// Public reports whether people can begin without an invitation.
func (s *State) Public() bool { return s.Direct() || s.Mode == Domain && s.Mail }

// takes reports whether a domain of an address is listed.
func (s *Settings) takes(address string) bool {
	_, domain, _ := strings.Cut(address, "@")
	return slices.Contains(s.Domains, domain)
}

// Service is how accounts begin. Safe for concurrent use.
type Service struct {
	db       *db.DB
	accounts *account.Service
	sessions *session.Service
	teams    *team.Service
}

// New returns the service.
func New(d *db.DB, accounts *account.Service, sessions *session.Service, teams *team.Service) *Service {
	return &Service{db: d, accounts: accounts, sessions: sessions, teams: teams}
}

// State returns the setting. A site where most people may not sign in with a password is closed: their accounts begin
// when they sign in.
func (s *Service) State(ctx context.Context) (state *State, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		state, err = s.state(tx)
		return err
	})
	return state, err
}

func (s *Service) state(tx *db.Tx) (*State, error) {
	state, err := readState(tx)
	if err == nil && !s.sessions.PasswordsForAll() {
		state.Mode = Closed
	}
	return state, err
}

// StateIn returns what is stored, whether people may sign in with passwords or not.
func StateIn(tx *db.Tx) (*State, error) { return readState(tx) }

// Bounds of the list of domains.
const (
	maxDomains = 100
	maxDomain  = 253
)

// check folds the settings, and reports what is wrong with them. Error: 422.
func (s *Settings) check() error {
	if !slices.Contains(Modes, s.Mode) {
		return errs.Newf(errs.Invalid, "%q is not a way in which accounts begin", errs.Clip(string(s.Mode)))
	}
	if s.Mode != Domain {
		s.Domains = nil
		return nil
	}
	var domains []string
	for _, d := range s.Domains {
		d = account.Fold(strings.TrimPrefix(strings.TrimSpace(d), "@"))
		if !account.PlausibleEmail("x@"+d) || len(d) > maxDomain || account.Reserved("x@"+d) {
			return errs.Validation(errs.Field{Field: "domains", Code: errs.Custom,
				Message: "Invalid domain: write the part of addresses after the @."})
		}
		domains = append(domains, d)
	}
	slices.Sort(domains)
	s.Domains = slices.Compact(domains)
	if n := len(s.Domains); n == 0 || n > maxDomains {
		return errs.Validation(errs.Field{Field: "domains", Code: errs.Custom,
			Message: "List between 1 and 100 domains, one a line."})
	}
	return nil
}

// Change stores how accounts begin. by is the acting site administrator; nil: the operator, or a seed. Errors: 404, 422.
func Change(ctx context.Context, d *db.DB, by *account.Caller, to Settings) error {
	if err := to.check(); err != nil {
		return err
	}
	return d.WriteAs(ctx, by, func(tx *db.Tx) error {
		if err := mayAdministrate(by); err != nil {
			return err
		}
		was, err := readState(tx)
		if err != nil {
			return err
		}
		if was.Mode == to.Mode && slices.Equal(was.Domains, to.Domains) {
			return nil
		}
		if to.Mode == Domain && !was.Mail && by != nil {
			return errs.New(errs.Invalid, "This server sends no mail, so it cannot verify addresses.")
		}
		if err := storeSettings(tx, &to); err != nil {
			return err
		}
		return audit.Record(tx, audit.Entry{Action: audit.SignupUpdate, Right: audit.SiteAdmin,
			Changes: map[string]any{"mode": to.Mode, "old_mode": was.Mode, "domains": to.Domains}})
	})
}

// Change is Change for a site administrator or the operator.
func (s *Service) Change(ctx context.Context, by *account.Caller, to Settings) error {
	return Change(ctx, s.db, by, to)
}

// mayAdministrate returns a 404 for who neither administrates the site nor operates the server.
func mayAdministrate(by *account.Caller) error {
	if by != nil && !by.SiteAdmin {
		return errs.Absent()
	}
	return nil
}

// mails are the kinds of mails of this package.
const (
	AskedMail    mail.Kind = "signup_asked"    // a link that somebody asked for
	InviteMail   mail.Kind = "signup_invite"   // a link of an administrator
	WaitingMail  mail.Kind = "signup_waiting"  // tells administrators that somebody asks for an account
	ApprovedMail mail.Kind = "signup_approved" // the decisions
	DeclinedMail mail.Kind = "signup_declined"
)

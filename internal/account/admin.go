package account

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// MaxLine is the greatest length of a one-line text in code points: names,
// addresses, notes. maxBio is that of a bio or description.
const (
	MaxLine = 255
	maxBio  = 1000
)

// NewUser holds the fields of a new user. Name and Email may be empty.
type NewUser struct {
	Login string
	Name  string
	Email string
	Admin bool // administers the site (decision 12)

	Claimed   bool // the address is not verified
	Suspended bool // until Unsuspend

	By *Caller // who registers it; nil: the operator
}

// CreateUser creates a user. The address is stored as verified unless it is only claimed. Errors: 422 for
// an invalid or taken login, with the reason, for an invalid name or address, and for the address of
// another user.
func (s *Service) CreateUser(ctx context.Context, n NewUser) (*Account, error) {
	if err := CheckLine("name", n.Name); err != nil {
		return nil, err
	}
	if n.Email != "" && !PlausibleEmail(n.Email) {
		return nil, errs.Newf(errs.Invalid, "%q is not an e-mail address", n.Email)
	}
	a := &Account{Login: n.Login, Kind: User, Name: web.OrNil(n.Name), Email: web.OrNil(n.Email),
		SiteAdmin: n.Admin}
	err := s.db.WriteAs(ctx, n.By, func(tx *db.Tx) error {
		if err := Register(tx, a); err != nil {
			return err
		}
		if n.Suspended {
			if err := setSuspended(tx, a, tx.Now); err != nil {
				return err
			}
		}
		if err := Record(tx, audit.UserCreate, a, "", map[string]any{"site_admin": n.Admin,
			"suspended": n.Suspended}); err != nil {
			return err
		}
		if n.Email == "" {
			return nil
		}
		if err := claim(tx, a, n.Email); err != nil || n.Claimed {
			return err
		}
		return verify(tx, a, n.Email)
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// AddUser is CreateUser for a site administrator, with errors of fields. The address is only claimed. Error: 422.
func (s *Service) AddUser(ctx context.Context, n NewUser) (*Account, error) {
	f := web.Faults{Resource: User.String()}
	if n.Login == "" {
		f.Wrong("login", errs.MissingField, "")
	}
	f.CheckText("email", n.Email, MaxLine)
	if err := f.Err(); err != nil {
		return nil, err
	}
	n.Claimed = true
	made, err := s.CreateUser(ctx, n)
	return made, asField(err, User.String(), "login")
}

// NewOrg is what an organization is made of. Name may be empty.
type NewOrg struct {
	Login string
	Owner string // login of its first owner
	Name  string
	By    *Caller // who registers it; nil: the operator
}

// CreateOrg is RegisterOrg without a name.
func (s *Service) CreateOrg(ctx context.Context, login, ownerLogin string) (*Account, error) {
	return s.RegisterOrg(ctx, NewOrg{Login: login, Owner: ownerLogin})
}

// RegisterOrg registers an organization with its first owner; members may pull
// from its repositories (decision 12). Errors: 404 when the owner does not exist;
// 422 as for CreateUser, and when the owner is not a user.
func (s *Service) RegisterOrg(ctx context.Context, n NewOrg) (*Account, error) {
	if err := CheckLine("name", n.Name); err != nil {
		return nil, err
	}
	a := &Account{Login: n.Login, Name: web.OrNil(n.Name), Kind: Organization, DefaultRole: Pull}
	err := s.db.WriteAs(ctx, n.By, func(tx *db.Tx) error {
		owner, err := ByLogin(tx, n.Owner)
		switch {
		case errs.Is(err, errs.NotFound):
			return errs.Newf(errs.NotFound, "user %q, the owner of the organization, not found", n.Owner)
		case err != nil:
			return err
		case owner.Kind != User:
			return errs.Newf(errs.Invalid, "%q is an organization: only a user can own one", owner.Login)
		}
		if err := Register(tx, a); err != nil {
			return err
		}
		if err := putMember(tx, a.ID, owner.ID, true); err != nil {
			return err
		}
		return audit.Record(tx, audit.Entry{Action: audit.OrgCreate, Org: a.Audited(), User: owner.Audited(),
			Changes: map[string]any{"role": orgRole(true)}})
	})
	if err != nil {
		return nil, err
	}
	return a, nil
}

// FoundOrg is RegisterOrg for a site administrator, with errors of fields. Error: 422.
func (s *Service) FoundOrg(ctx context.Context, n NewOrg) (*Account, error) {
	f := web.Faults{Resource: orgResource}
	for _, required := range [][2]string{{"login", n.Login}, {"admin", n.Owner}} {
		if required[1] == "" {
			f.Wrong(required[0], errs.MissingField, "")
		}
	}
	f.CheckText("profile_name", n.Name, MaxLine)
	if err := f.Err(); err != nil {
		return nil, err
	}
	made, err := s.RegisterOrg(ctx, n)
	if errs.Is(err, errs.NotFound) {
		return nil, asField(err, orgResource, "admin")
	}
	return made, asField(err, orgResource, "login")
}

// Register checks the login and stores the account.
func Register(tx *db.Tx, a *Account) error {
	if err := CheckLogin(a.Login); err != nil {
		return err
	}
	err := insertAccount(tx, a)
	if err == nil {
		return takeLogin(tx, a, Fold(a.Login))
	}
	if !errors.Is(err, db.ErrNoRows) {
		return err
	}
	other, err := ByLogin(tx, a.Login)
	if err != nil {
		return err
	}
	return errs.Newf(errs.Invalid, "the login %q is taken by %s", other.Login, other.Kind.noun())
}

// CheckLine reports why a text cannot be one line of at most MaxLine characters.
func CheckLine(what, s string) error {
	switch {
	case !utf8.ValidString(s) || HasControl(s):
		return errs.Newf(errs.Invalid, "the %s must be one line of text", what)
	case utf8.RuneCountInString(s) > MaxLine:
		return errs.Newf(errs.Invalid, "the %s is too long (maximum is %d characters)", what, MaxLine)
	default:
		return nil
	}
}

// HasControl reports whether a text has characters that are none of a line.
func HasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// PlausibleEmail accepts what commits and headers can carry: one @ with
// something on both sides, and no blanks, brackets or quotes.
func PlausibleEmail(s string) bool {
	local, domain, found := strings.Cut(s, "@")
	return found && local != "" && domain != "" && utf8.ValidString(s) &&
		utf8.RuneCountInString(s) <= MaxLine &&
		!strings.Contains(domain, "@") && !HasControl(s) && !strings.ContainsAny(s, " <>\"\\,;")
}

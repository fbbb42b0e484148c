package external

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// Provisioning says who provisions people and groups of a source by SCIM (package scim).
type Provisioning struct {
	Account string `yaml:"account"` // the login of the site administrator whose tokens speak for the source
	// AdministratorRoles allows roles of people to make them administrators of the site.
	AdministratorRoles bool `yaml:"administrator_roles"`
}

// MaxMembers bounds the members of a provisioned group.
const MaxMembers = 50_000

// PrepareAlone is Prepare for a source that provisions people and signs nobody in.
func (s *Source) PrepareAlone() error {
	if s.Accounts == "" {
		s.Accounts = Create
	}
	if s.Scim == nil {
		return errors.New("scim is missing")
	}
	if s.Accounts != Create {
		return fmt.Errorf("accounts: want %s: nobody could link an account", Create)
	}
	s.Issuer, s.Way = "scim:"+s.Name, "scim:"+s.Name
	return s.Prepare()
}

// appoints reports whether the file lets groups or roles make administrators of the site.
func (s *Source) appoints() bool {
	return len(s.Administrators) > 0 || s.Scim != nil && s.Scim.AdministratorRoles
}

// names reports whether the file names a group.
func (s *Source) names(group string) bool {
	if _, named := s.Groups[group]; named {
		return true
	}
	for _, name := range s.Administrators {
		if name == group {
			return true
		}
	}
	return false
}

// Person is a user whom a provider provisioned.
type Person struct {
	ID         int64
	Subject    string // externalId at the provider: never changes
	UserName   string
	Display    string
	Active     bool
	Admin      bool   // a role says that the person administers the site
	Attributes string // JSON: what else the provider sent
	Name       string // of a new account; not stored
	Email      string // of a new account; not stored
	Account    account.ID
	Login      string // of the account; empty: there is none
	Groups     []Group
	CreatedAt  db.Time
	UpdatedAt  db.Time
}

// identity is the person as a sign-in would have it.
func (p *Person) identity(of *Source) *Identity {
	return &Identity{Source: of, Subject: p.Subject, Login: p.UserName, Name: p.Name, Email: p.Email, Admin: p.Admin}
}

// ProvisionedBy returns the source for which the caller's tokens provision. Error: 403.
func (s *Service) ProvisionedBy(by *account.Caller) (*Source, error) {
	for _, source := range s.o.Sources {
		if source.Scim != nil && by != nil && account.Fold(source.Scim.Account) == account.Fold(by.Login) {
			return source, nil
		}
	}
	return nil, errs.New(errs.Forbidden, "No provider of the file of --sign-in-file names your account under scim.account.")
}

// Provisioned are the sources whose people are provisioned.
func (s *Service) Provisioned() (list []*Source) {
	for _, source := range s.o.Sources {
		if source.Scim != nil {
			list = append(list, source)
		}
	}
	return list
}

// Codes of errors, as SCIM has them.
const (
	Uniqueness = "uniqueness" // another user or group has a value
	Mutability = "mutability" // a value cannot change, or not now
	BadValue   = "invalidValue"
	SCIM       = "SCIM" // the resource of the field that has the code
)

// Refusal is an error of SCIM with one of the codes.
func Refusal(kind errs.Kind, code, format string, args ...any) error {
	return &errs.Error{Kind: kind, Message: fmt.Sprintf(format, args...), Fields: []errs.Field{{Resource: SCIM, Code: code}}}
}

// AddPerson stores a new person, and makes or suspends the account. Errors: 400 for a login that cannot be used or an
// account that cannot be suspended; 409 for a taken userName, externalId or login.
func (s *Service) AddPerson(ctx context.Context, by *account.Caller, of *Source, p *Person) error {
	want := *p
	err := s.o.DB.WriteAs(ctx, by, func(tx *db.Tx) error {
		*p = want
		if err := insertPerson(tx, of, p); err != nil {
			return err
		}
		if err := s.settle(tx, by, of, p); err != nil {
			return err
		}
		return p.record(tx, audit.PersonProvision, of)
	})
	if err != nil {
		return err
	}
	return s.followNow(ctx, of, []int64{p.ID})
}

// ChangePerson changes a person by a function, which may be called twice, and makes, suspends or reinstates the
// account. Errors: 404, those of AddPerson and of the function.
func (s *Service) ChangePerson(
	ctx context.Context, by *account.Caller, of *Source, id int64, change func(*Person) error,
) (p *Person, err error) {
	stale := false
	err = s.o.DB.WriteAs(ctx, by, func(tx *db.Tx) error {
		if p, err = holdPerson(tx, of, id); err != nil {
			return err
		}
		before := *p
		if err := change(p); err != nil {
			return err
		}
		if p.Subject != before.Subject {
			return Refusal(errs.Invalid, Mutability, "externalId cannot change: delete the user and create it again")
		}
		changed := p.UserName != before.UserName || p.Display != before.Display || p.Active != before.Active ||
			p.Admin != before.Admin || p.Attributes != before.Attributes
		if changed {
			if err := updatePerson(tx, of, p, p.Active != before.Active || p.Admin != before.Admin); err != nil {
				return err
			}
			if err := p.record(tx, audit.PersonUpdate, of); err != nil {
				return err
			}
		}
		if err := s.settle(tx, by, of, p); err != nil {
			return err
		}
		if stale, err = isStale(tx, id); err != nil {
			return err
		}
		return readGroupsOf(tx, []*Person{p})
	})
	if err != nil || !stale {
		return p, err
	}
	return p, s.followNow(ctx, of, []int64{id})
}

// RemovePerson forgets a person, and suspends the account. Errors: 404; 400 if the account cannot be suspended.
func (s *Service) RemovePerson(ctx context.Context, by *account.Caller, of *Source, id int64) error {
	return s.o.DB.WriteAs(ctx, by, func(tx *db.Tx) error {
		p, err := holdPerson(tx, of, id)
		if err != nil {
			return err
		}
		p.Active = false
		if err := s.settle(tx, by, of, p); err != nil {
			return err
		}
		if err := p.record(tx, audit.PersonDeprovision, of); err != nil {
			return err
		}
		return tx.Run(`DELETE FROM scim_users WHERE id = $1`, id)
	})
}

// record notes what happens to a person.
func (p *Person) record(tx *db.Tx, action audit.Action, of *Source) error {
	e := audit.Entry{Action: action, Changes: map[string]any{"provider": of.Name, "user_id": p.ID, "user_name": p.UserName,
		"active": p.Active}}
	if p.Account != 0 {
		e.User = audit.Named{ID: int64(p.Account), Name: p.Login}
	}
	return audit.Record(tx, e)
}

// settle brings the account to the state of its person, whose row is held: an active one gets an account where the
// file says so, one that is not active is suspended, and a suspension ends that this source made. Errors: 400, 409.
func (s *Service) settle(tx *db.Tx, by *account.Caller, of *Source, p *Person) error {
	i := p.identity(of)
	id, err := accountOf(tx, i)
	if err != nil {
		return err
	}
	if id == 0 {
		if !p.Active || of.Accounts != Create {
			return nil
		}
		return s.provision(tx, p, i)
	}
	if err := account.HoldID(tx, id); err != nil {
		return err
	}
	a, err := account.ByID(tx, id)
	if err != nil {
		return err
	}
	p.Account, p.Login = a.ID, a.Login
	since, err := suspendedBySource(tx, i)
	if err != nil {
		return err
	}
	own := !since.IsZero() && since == a.SuspendedAt
	switch {
	case !p.Active && a.SuspendedAt.IsZero():
		if a.ID == account.IDOf(by) || s.Named(a.Login) {
			return Refusal(errs.Invalid, Mutability, "the account %q cannot be suspended: its tokens provision, or the "+
				"sign-in file names it under passwords", a.Login)
		}
		err = s.o.Accounts.FollowSource(tx, a, of.Name, true)
		if errs.Is(err, errs.Invalid) {
			return Refusal(errs.Invalid, Mutability, "%s", err.Error())
		}
	case p.Active && own:
		if err = markStale(tx, []int64{p.ID}); err == nil {
			err = s.o.Accounts.FollowSource(tx, a, of.Name, false)
		}
	default:
		return nil
	}
	if err != nil {
		return err
	}
	return noteSourceSuspended(tx, i, a.SuspendedAt)
}

// provision makes the account of a person. Errors: 400, 409.
func (s *Service) provision(tx *db.Tx, p *Person, i *Identity) error {
	login, err := i.login()
	if err != nil {
		return Refusal(errs.Invalid, BadValue, "userName %q cannot be made a login", errs.Clip(p.UserName))
	}
	made, err := s.register(tx, i, login, audit.SiteAdmin)
	if errs.Is(err, errs.Invalid) {
		return Refusal(errs.Conflict, Uniqueness, "%s: that account is not linked by its name", err.Error())
	}
	if err != nil {
		return err
	}
	p.Account, p.Login = made.ID, made.Login
	return markStale(tx, []int64{p.ID})
}

// mayEnter returns a 403 for an identity without an account whose person the provider deactivated.
func mayEnter(tx *db.Tx, i *Identity) error {
	if i.Source.Scim == nil {
		return nil
	}
	p, err := personBySubject(tx, i)
	if err == nil && p != nil && !p.Active {
		err = errs.Newf(errs.Forbidden, "%s has deactivated your account. Ask an administrator.", i.Source.Label)
	}
	return err
}

// asProvisioned gives an identity of a source that provisions the groups and the role that were provisioned. It
// reports false for one that was not: then nothing is followed.
func (s *Service) asProvisioned(ctx context.Context, i *Identity) (is bool, err error) {
	if i.Source.Scim == nil {
		return true, nil
	}
	err = s.o.DB.Read(ctx, func(tx *db.Tx) error {
		p, err := personBySubject(tx, i)
		if is = p != nil; err != nil || !is {
			return err
		}
		if err := readGroupsOf(tx, []*Person{p}); err != nil {
			return err
		}
		i.Admin, i.Groups = p.Admin && i.Source.Scim.AdministratorRoles, groupNames(p.Groups)
		return nil
	})
	return is, err
}

func groupNames(list []Group) (names []string) {
	for _, g := range list {
		names = append(names, g.Name)
	}
	return names
}

// fold is a name without regard to case.
func fold(name string) string { return strings.ToLower(name) }

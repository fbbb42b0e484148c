// Package external links accounts with identities of other servers: identity providers (package oidc) and directories
// (package ldap), which are its sources.
//
//	external.go  sources and identities
//	signin.go    the account of an identity, which may be made; linking and unlinking
//	groups.go    groups of an identity as memberships, teams and administrators
//	compare.go   all accounts of a source against the people that it has: leavers are suspended
//	provision.go, provisiongroup.go  people and groups that a provider provisions (package scim), and their accounts
//	provisionfollow.go  what these groups and roles give, at once
//	store.go, storecompare.go, storeprovision.go, storegroup.go  the SQL
//
// An identity is a source and a subject. It is never matched to an account by email address or login: it belongs to
// the account that was created with it or whose user linked it.
//
// Transitions:
//
//	an identity is unlinked        all other sessions of the account end; a comparison does not see the account
//	the account is suspended       sign-in fails until the suspension ends
//	the account is renamed         no effect, also when the source renames its user
//	the account is deleted         its identities are deleted; the source's user may get a new account
//	a source is removed            sign-in with it fails; sessions and identities stay; nobody is compared
//	a group is left                its memberships end at the next sign-in, or with the next comparison
//	a comparison suspended it      the next one that finds the person again ends that; an administrator may before
//
// Of a person that a provider provisions:
//
//	deactivated, or removed        the account is suspended in the same transaction; one that cannot be is an error
//	a group or role is taken away while the account is suspended: it loses these rights, too
//	a group or role is given while the account is suspended: it gets that when the suspension ends
//	activated, or created again    ends that suspension, and no other; groups are followed
//	an administrator suspended it  stays, whatever the provider says
//	an administrator ended that    stays until the provider sends the person as inactive again
//	the provider renames it        no effect on the login
//	the user unlinks the identity  refused; if the operator does, the provider's next change makes or finds an account
//	the account is deleted         the person stays, without an account; the next change of an active one makes one
//	the account is renamed         no effect
//	the account owns the tokens that provision, or may use a password: never suspended
//	a group changes, is renamed or removed: its people lose and get what the file says, before the answer; if they are
//	                               many, soon after it
//	the provider leaves the file   its tokens are refused; nothing changes
package external

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"time"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/db"
	"arbor/internal/team"
)

// Source is another server whose identities sign people in, as a file of the operator describes it.
type Source struct {
	Name           string                  `yaml:"name"`     // in addresses and in the database
	Label          string                  `yaml:"label"`    // on pages
	Accounts       string                  `yaml:"accounts"` // what happens at the first sign-in: Create or Link
	Groups         map[string][]Membership `yaml:"groups"`
	Administrators []string                `yaml:"administrators"` // groups whose people administrate the site

	// Scim says who provisions people and groups of the source; nil: nobody, and sign-ins tell of groups.
	Scim *Provisioning `yaml:"scim"`

	Issuer string `yaml:"-"` // whose subjects its identities have: the source has checked that it is unique
	Way    string `yaml:"-"` // how sessions say that it made them, see session.Recognized
}

// Membership is what a group becomes here.
type Membership struct {
	Organization string   `yaml:"organization"`
	Role         string   `yaml:"role"` // member or owner
	Teams        []string `yaml:"teams"`
}

// What happens when somebody without an account signs in.
const (
	Create = "create" // the account is made
	Link   = "link"   // nothing: users link identities themselves
)

// The roles of a membership.
const (
	member = "member"
	owner  = "owner"
)

// MaxSubject bounds the subject of an identity, in bytes, as OpenID Connect does.
const MaxSubject = 255

// Identity is who somebody is, as a source says.
type Identity struct {
	Source  *Source
	Subject string
	Login   string // that the source proposes; may be empty
	Name    string
	Email   string // that the source verified; may be empty
	Groups  []string
	Admin   bool // a role makes an administrator of the site
	loses   bool // the account gets nothing, and loses what it may not have: it is suspended
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)

// Prepare checks what the file says of a source, and fills in what is usual.
func (s *Source) Prepare() error {
	if !nameForm.MatchString(s.Name) {
		return errors.New("name: want up to 40 lower-case letters, digits and hyphens")
	}
	if s.Label == "" {
		s.Label = s.Name
	}
	if s.Accounts == "" {
		s.Accounts = Link
	}
	if s.Accounts != Create && s.Accounts != Link {
		return fmt.Errorf("accounts: want %s or %s", Create, Link)
	}
	if s.Scim != nil && !account.Plausible(s.Scim.Account) {
		return errors.New("scim: account: want the login of the site administrator whose tokens provision")
	}
	for group, list := range s.Groups {
		for n := range list {
			m := &list[n]
			if !account.Plausible(m.Organization) {
				return fmt.Errorf("groups: %s: %q is not the login of an organization", group, m.Organization)
			}
			if m.Role == "" {
				m.Role = member
			}
			if m.Role != member && m.Role != owner {
				return fmt.Errorf("groups: %s: role: want %s or %s", group, member, owner)
			}
		}
	}
	return nil
}

// Service links identities with accounts. Safe for concurrent use.
type Service struct {
	o       Options
	sources map[string]*Source // by issuer
}

// Options are what the service works with.
type Options struct {
	Sources   []*Source
	Passwords []string // the logins that may sign in with a password of this server; nil: everybody
	DB        *db.DB
	Accounts  *account.Service
	Teams     *team.Service
	Sessions  *session.Service
	Log       *slog.Logger
	Now       func() time.Time
}

// New returns the service, and has sessions refuse the passwords that the options do.
func New(o Options) *Service {
	s := &Service{o, map[string]*Source{}}
	for _, source := range o.Sources {
		s.sources[source.Issuer] = source
	}
	o.Sessions.RefusesPassword = s.refusesPassword
	return s
}

// Passwords reports whether everybody may sign in with a password of this server.
func (s *Service) Passwords() bool { return s.o.Passwords == nil }

// Named reports whether the file names a login as one that signs in with a password of this server.
func (s *Service) Named(login string) bool {
	for _, may := range s.o.Passwords {
		if account.Fold(may) == account.Fold(login) {
			return true
		}
	}
	return false
}

// refusesPassword reports whether a user must sign in with a source.
func (s *Service) refusesPassword(login string) bool { return s.o.Passwords != nil && !s.Named(login) }

// Package account holds people and organizations: who they are, who belongs to
// whom, and who is calling.
//
//   - account.go: the types, roles, and the caller in the context
//   - login.go: which logins there may be (decisions 8, 58)
//   - storecaller.go: reading the [Caller] of a token or a key, and whether it still holds
//   - grant.go: what a token takes from its account's rights; installation.go, storeinstallation.go: what one of
//     an installation of a GitHub App may, and bots; usertoken.go: what a GitHub App may that acts for a person;
//     oauthapp.go: organizations that are closed to OAuth Apps
//   - admin.go: the command line's operations
//   - profile.go, member.go: what may be changed over HTTP, and by whom (decision 12)
//   - store.go, storemember.go: the SQL, of tables accounts, members
//   - api.go, apiorg.go, apimember.go: the handlers; json.go: their JSON (decision 28)
//   - email.go, storeemail.go: the addresses that make a commit an account's, of table
//     emails (decision 64)
//   - apiemail.go: one's own addresses over HTTP
//   - site.go, storesite.go, apisite.go: what site administrators do with accounts
//   - rename.go, storeformer.go: other logins, and those that were given up, of table
//     former_logins
//   - delete.go: the end of an account, and ghost
//   - factorrule.go, storefactor.go: who must have a second factor, of table factor_rules
//   - self.go: changes of the caller's own account
//   - zone.go: the time zones of people
//   - quota.go, text.go, storequota.go: what accounts may own and write
//   - audit.go: what the audit log says of accounts, and showing it
//
// Its rooms, which import it:
//
//	token     from credentials to a Caller; tokens, also of installations and by the device flow
//	session   signing in to the pages, passwords, sessions
//	key       public SSH keys, deploy keys included
//
// Invariants: Each transaction that changes anyone's rights increments the generation [Topic], so anything
// cached under it becomes invalid for the next request on every node. Each organization has at least one owner.
//
// Package account is the lowest of the features; all others use its store
// functions within their own transactions.
package account

import (
	"context"
	"slices"
	"strconv"

	"arbor/internal/cache"
	"arbor/internal/db"
)

// Topic is the generation that grows with every change to accounts, members or
// tokens and keys (except when they were last used).
const Topic = "accounts"

// Kind distinguishes people, organizations, bots and mannequins.
type Kind uint8

// The kinds of account, as they are stored.
const (
	User         Kind = 1
	Organization Kind = 2
	Bot          Kind = 3 // the account as which a GitHub App acts: it never signs in, owns nothing and is not a member
	Mannequin    Kind = 4 // somebody of another server whose texts were imported, see mannequin.go
)

// String returns the name that payloads have as type.
func (k Kind) String() string {
	switch k {
	case Organization:
		return "Organization"
	case Bot:
		return "Bot"
	case Mannequin:
		return "Mannequin"
	}
	return "User"
}

// word is the kind within a sentence.
func (k Kind) word() string {
	switch k {
	case Organization:
		return "organization"
	case Bot:
		return "bot"
	case Mannequin:
		return "mannequin"
	}
	return "user"
}

// noun is word with its article.
func (k Kind) noun() string {
	switch k {
	case Organization:
		return "an organization"
	case Bot:
		return "a bot"
	case Mannequin:
		return "a mannequin"
	}
	return "a user"
}

// Role is what someone may do with a repository (decision 12). A higher role
// includes the lower ones, so roles compare with <.
type Role uint8

// The roles, as they are stored.
const (
	None Role = iota
	Pull
	Triage   // sorts issues and pull requests: labels, assignees, milestones, open or closed
	Push     // changes the code, merges
	Maintain // describes the repository, and says how pull requests are merged
	Admin
)

// Roles have two names, the same for triage, maintain and admin: clients send the first and are answered the
// second, as at GitHub.
var (
	roles     = [...]string{None: "none", "pull", "triage", "push", "maintain", "admin"}
	roleNames = [...]string{None: "none", "read", "triage", "write", "maintain", "admin"}
)

// String returns none, pull, triage, push, maintain or admin.
func (r Role) String() string { return roles[r] }

// Name returns none, read, triage, write, maintain or admin: GitHub's role_name.
func (r Role) Name() string { return roleNames[r] }

// ParseRole parses the result of String; ok is false for anything else.
func ParseRole(s string) (r Role, ok bool) {
	n := slices.Index(roles[:], s)
	return Role(max(n, 0)), n >= 0
}

// RoleNamed parses the result of Name; ok is false for anything else.
func RoleNamed(s string) (r Role, ok bool) {
	n := slices.Index(roleNames[:], s)
	return Role(max(n, 0)), n >= 0
}

// Grants are the roles that can be granted on a repository, as String returns them.
func Grants() []string { return roles[Pull:] }

// ID is the id of an account.
type ID int64

// String returns the id as addresses have it.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// OAuthAppID is the id of an OAuth App, GrantID that of what a user allowed one. Package oauth has these.
type (
	OAuthAppID int64
	GrantID    int64
)

// AppID is the id of a GitHub App. Package app has these.
type AppID int64

// String returns the id as addresses have it.
func (id AppID) String() string { return strconv.FormatInt(int64(id), 10) }

// InstallationID is the id of an installation of a GitHub App.
type InstallationID int64

// String returns the id as addresses have it.
func (id InstallationID) String() string { return strconv.FormatInt(int64(id), 10) }

// Account is a person or an organization. A nil text is one that was not given.
type Account struct {
	ID        ID
	Login     string // as it was registered; Fold(Login) is unique
	Kind      Kind
	Name      *string
	Email     *string
	Company   *string
	Blog      *string
	Location  *string
	Bio       *string // of an organization: its description
	SiteAdmin bool
	TwoFactor bool // it has a second factor; read for oneself only
	// Of an organization: its people must have a second factor, perhaps after a grace time; read for owners only.
	FactorsRequired bool

	DefaultRole  Role // of an organization: what members have on its repositories
	PublicRepos  int64
	PrivateRepos int64 // without withdrawn forks
	Withdrawn    int64 // forks whose root the owner no longer sees (decision 62)
	PrivateForks bool  // of an organization: its private repositories may be forked
	Creation     Creation
	BillingEmail *string // of an organization
	Followers    int64
	Following    int64
	SuspendedAt  db.Time // zero: it is not
	CreatedAt    db.Time
	UpdatedAt    db.Time

	closed bool // of an organization that orgFor found: closed to the caller's OAuth App
}

// Creation is what members of an organization may not create in it, which its owners may.
type Creation struct{ NoRepos, NoPublic, NoPrivate bool }

// Allows reports whether members may create public, or private, repositories.
func (c Creation) Allows(private bool) bool {
	return !c.NoRepos && (private && !c.NoPrivate || !private && !c.NoPublic)
}

// Type is what members may create in one word of GitHub's, or public.
func (c Creation) Type() string {
	switch public, private := c.Allows(false), c.Allows(true); {
	case public && private:
		return "all"
	case private:
		return "private"
	case public:
		return "public"
	default:
		return "none"
	}
}

// Caller is the account that makes a request. It is immutable. A Caller of this process has no token and
// all rights of its account.
type Caller struct {
	ID        ID
	Login     string
	SiteAdmin bool // the account is a site administrator and the token allows it
	// the account is a site administrator and the token may provision by SCIM; its routes see SiteAdmin
	Provisions bool
	TokenID    int64
	KeyID      int64      // the SSH key of a caller who used one and so has no token
	App        AppID      // the id of the App by whose installation token the caller acts; 0: none
	ForApp     AppID      // the id of the App whose user token the caller has; 0: none
	OAuthApp   OAuthAppID // the id of the OAuth App whose token the caller has; 0: none
	Session    bool       // signed in by the session of a browser, which opens pages alone
	ByToken    bool       // the session was started with a token, so it cannot create tokens

	// Of a session: its user must have a second factor and has none, so it opens nothing but where one is added.
	NeedsFactor bool
	TimeZone    string // the name of the one in which pages show times; empty: that of the browser

	ConfirmedAt db.Time // of a session: when its user last showed a password or a factor
	// the id of the App that signed the request itself, with a JWT, and so has no token; 0: none
	SignedApp AppID

	Grant        *Grant // of the token or deploy key; nil: there is none
	Reach        Reach
	HidesMembers bool  // memberships that are not public are not shown, not even the caller's own
	Refusal      error // of what the route does, since the token lacks the scopes; nil: it has them

	Transfer *Transfer // what a token of package lfs is for; nil: the caller has none

	installed asInstalled // what an App may do by the route
}

// Transfer limits a caller to objects of Git LFS of one repository.
type Transfer struct {
	RepoID int64
	Upload bool // or they are only read

	Expires int64 // in seconds since 1970: tokens that it is given end then, too
}

// IDOf is the id of a caller, 0 for the anonymous one, which is not an account id.
func IDOf(c *Caller) ID {
	if c == nil {
		return 0
	}
	return c.ID
}

type callerKey struct{}

// CallerFrom returns the caller of a request, or nil if it is anonymous.
func CallerFrom(ctx context.Context) *Caller {
	c, _ := ctx.Value(callerKey{}).(*Caller)
	return c
}

// WithCaller returns ctx with the caller in it.
func WithCaller(ctx context.Context, c *Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Service changes accounts. Safe for concurrent use.
type Service struct {
	db     *db.DB
	counts *cache.Cache[any, int64] // rows of long lists, see Total
	forge  Forge

	TextLimits TextLimits // set before the service is used
}

// Forge is what happens to accounts and, in the same transaction, to features above
// this package. Package forge implements it.
type Forge interface {
	// BeginOrgAccess is called after somebody gained access to an organization's repositories: a member became an
	// owner, or members have a higher default permission.
	BeginOrgAccess(tx *db.Tx, orgID ID) error
	// EndOrgAccess is called after somebody lost access to an organization's repositories: a member became an
	// outside collaborator, an owner a member, or members have a lower default permission. by is the acting
	// account. An error rolls the transaction back.
	EndOrgAccess(tx *db.Tx, orgID, by ID) error
	// RevokeInOrg is EndOrgAccess after a user left: the roles that were granted to it on single repositories
	// of the organization end, too.
	RevokeInOrg(tx *db.Tx, orgID, userID, by ID) error
	// KeepTeamRoles grants a member of an organization the roles that it has through teams, before it becomes an
	// outside collaborator.
	KeepTeamRoles(tx *db.Tx, orgID, userID, by ID) error
	// EndSiteAdmin is called after a user stopped being a site administrator, so it sees
	// less of everything. An error undoes the transaction.
	EndSiteAdmin(tx *db.Tx, userID, by ID) error
	// FollowSuspension is called after a user was suspended.
	FollowSuspension(tx *db.Tx, userID ID) error
	// InviteMember invites a user whom the caller may not add at once. asked is false if it may.
	InviteMember(tx *db.Tx, org, user *Account, owner bool, by *Caller) (asked bool, err error)
	// InvitedMember finds the open invitation of a user, as the membership that it will be. Error: 404.
	InvitedMember(tx *db.Tx, org, user *Account) (*Membership, error)
	// EndInvitation ends that: the user declines it, or an owner cancels it. Error: 404.
	EndInvitation(tx *db.Tx, org, user *Account, by *Caller) error
	// TellMember is called after a user joined or left an organization, to notify webhooks and Apps.
	TellMember(tx *db.Tx, org, user *Account, owner, joined bool, by ID) error
	// TellRename is called after an organization got another login than from.
	TellRename(tx *db.Tx, org *Account, from string, by ID) error
	// DeleteAccount deletes all that names the account, or transfers it to ghost. The caller
	// holds its row, and removes that afterwards.
	DeleteAccount(tx *db.Tx, id, ghost, by ID) error
}

// New returns the service; forge may be nil if the service handles no repositories.
func New(d *db.DB, forge Forge) *Service {
	return &Service{db: d, forge: forge, counts: cache.NewCount[any, int64](maxCounts)}
}

// tellMember notifies the observers that a user joined or left an organization.
func (s *Service) tellMember(tx *db.Tx, m *Membership, joined bool, by *Caller) error {
	if s.forge == nil {
		return nil
	}
	return s.forge.TellMember(tx, m.Org, m.User, m.Owner, joined, IDOf(by))
}

func (s *Service) beginOrgAccess(tx *db.Tx, orgID ID) error {
	if s.forge == nil {
		return nil
	}
	return s.forge.BeginOrgAccess(tx, orgID)
}

func (s *Service) endOrgAccess(tx *db.Tx, orgID, by ID) error {
	if s.forge == nil {
		return nil
	}
	return s.forge.EndOrgAccess(tx, orgID, by)
}

// Caches returns the statistics of the caches.
func (s *Service) Caches() []cache.Stats {
	return []cache.Stats{s.counts.Stats("account_counts")}
}

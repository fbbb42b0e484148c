// Package invitation asks people whether they want to collaborate on a repository, or to join an organization:
//
//	.../collaborators/{username}, on servers that require invitations: [Service.Add]
//	/repos/{owner}/{repo}/invitations     api.go: for administrators; the operations are in repository.go
//	/user/repository_invitations          api.go: for invitees
//	.../invitations/{id}/teams, .../teams/{slug}/invitations   team.go
//	/orgs/{org}/invitations               apiorg.go: for owners; the operations are in organization.go
//	/user/memberships/orgs                apimember.go: for members and invitees
//
// Package account has the other addresses of memberships, and asks [Service.RequireMember] before it adds somebody.
// address.go has what is mailed, and invitations to organizations of who has an address but no account with it: those
// are accepted by an account that verified the address since, or by who holds the link in the mail.
//
// store.go has the SQL, follow.go the steps of other changes (package forge).
//
// Tables: invitations; invited_addresses; invited_teams, the teams that a person joins who accepts. An invitation is open for
// [Lifetime] by the server's clock, until it is accepted, declined or cancelled. Rows stay a month longer, since
// they count for the limits; each new invitation deletes some that are older. Until somebody accepts, they learn
// of a private repository its name and who invites them.
//
// Accepting locks the repository or the organization, so of two requests one finds nothing open. The inviter must
// still administer it then: an invitation is never worth more than its inviter's right. What becomes of open ones:
//
//	transition                           invitations
//	made private, made public, renamed   stay; the list shows what the repository is now
//	archived                             stay, and cannot be accepted meanwhile
//	transferred, deleted                 end
//	a team that they name is deleted     stay, without it; a team that becomes secret is joined as well
//	the invitee gets a role, is removed  end
//	the inviter is no longer an admin    end: removed, demoted, left the organization, no longer a site administrator
//	the inviter is suspended             hidden from invitees, and not accepted, until that ends
//	the invitee is suspended             stay; nobody acts as the invitee
//	inviter or invitee is renamed        stay
//	inviter or invitee is deleted        are deleted
//	an account verifies the address      stay, and are that account's too
//	the account loses the address        stay with the link alone
//	the server sends no mail any more    stay; new ones need an account
package invitation

import (
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// Resource is the name of invitations in validation errors.
const Resource = "RepositoryInvitation"

// Lifetime is how long an invitation can be accepted.
const Lifetime = 7 * 24 * time.Hour

// Limits within a day, as at GitHub for a repository.
const (
	day        = 24 * time.Hour
	maxOfPlace = 50  // of a repository or an organization
	maxOfOne   = 200 // of one inviter
)

// ID is the id of an invitation.
type ID int64

// Invitation is a row of the table invitations.
type Invitation struct {
	ID        ID
	Repo      *repo.Access     // without the right to read it; nil: the invitation is to an organization
	Org       *account.Account // nil: it is to a repository
	Invitee   *account.Account // nil: who has the address
	Address   string           // to which it was mailed since no account had it; empty: it is to an account
	Inviter   *account.Account
	Role      account.Role // in the repository
	Owner     bool         // of the organization, else a member
	CreatedAt db.Time
	Teams     int // that the invitee joins, of an organization

	repoID                      repo.ID
	orgID, inviteeID, inviterID account.ID
}

// Whom is the login or the address of who is invited.
func (i *Invitation) Whom() string {
	if i.Invitee == nil {
		return i.Address
	}
	return i.Invitee.Login
}

// ExpiresAt is when it can no longer be accepted.
func (i *Invitation) ExpiresAt() db.Time { return i.CreatedAt + micros(Lifetime) }

func micros(d time.Duration) db.Time { return db.Time(d.Microseconds()) }

// Service implements the operations on invitations.
type Service struct {
	db       *db.DB
	repos    *repo.Service
	accounts *account.Service

	// Required makes [Service.Add] and [Service.RequireMember] invite people where it could add them at once. It
	// is set before the service is used.
	Required bool
	// Teams adds those who accept to teams. It is set before the service is used.
	Teams *team.Service
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, accounts *account.Service) *Service {
	return &Service{db: d, repos: repos, accounts: accounts}
}

// Requires reports whether people must be invited: the caller may not add them at once.
func (s *Service) Requires(caller *account.Caller) bool {
	return s.Required && (caller == nil || !caller.SiteAdmin)
}

// Package team holds the teams of organizations: who is in them, and what they may do in repositories.
//
//	team.go    what a team is; find.go, beginning.go: teams that the caller may see; edit.go: create, change, delete
//	member.go  who is in a team; repo.go: the repositories of a team
//	store.go, storemember.go, storerepo.go  the SQL
//	tell.go    webhooks and the audit log
//	api.go, apimember.go, apirepo.go  the handlers; json.go: their JSON; routes.go: three addresses of each
//
// Tables: teams, team_members, team_repos. A team belongs to an organization and may have a parent there. Members of
// a closed team's organization see it. A secret team has neither parent nor children, and only its members and the
// organization's owners see it: [Seen] is the condition, and what shows a team to others asks it.
//
// team_members holds a team's own members, and with the role [Below] those of all teams below it. So the rights of a
// person are rows of team_members and team_repos alone, which [repo.GrantedRole] reads. A change writes no row for
// each pair of a person and a repository.
//
// What a team holds when something else changes; a test walks it:
//
//	a membership of the organization ends    the person leaves its teams; an outside collaborator keeps their roles
//	an account is suspended                  it stays, and its tokens do not work; deleted: it is gone
//	a repository is transferred, deleted     it leaves the teams; made private or public: it stays
//	a team is deleted                        the teams below are as well, with review requests to them
//	a team is made secret                    who has access keeps it; requests to it are shown to nobody
//	a team gets another parent               rights through teams above are those of the new ones
//	the organization is renamed              addresses follow; deleted: the teams are, too
//
// Invariants: everybody in a team is a member of its organization, and all its repositories belong to that. So a
// membership that ends, and a repository that is transferred, leave the teams in the same transaction ([LeaveRepo];
// package account removes members). Every change holds the row of the organization and raises [account.Topic].
package team

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// Resource is the name of teams in validation errors.
const Resource = "Team"

// Limits.
const (
	maxOfOrg       = 5000 // teams of an organization
	maxDepth       = 8    // teams above each other
	maxName        = 255
	maxDescription = 1024
)

// ID is the id of a team.
type ID int64

// String returns the id as addresses have it.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// Team is a team of an organization.
type Team struct {
	ID          ID
	Org         account.Account // id, login and kind alone
	Parent      *Team           // without its own parent; nil: none
	Name        string
	Slug        string // unique in the organization
	Description *string
	Secret      bool // closed otherwise
	Quiet       bool // mentions notify nobody
	CreatedAt   db.Time
	UpdatedAt   db.Time
}

// Role is the place of a person in a team.
type Role uint8

// The roles, as they are stored.
const (
	Outside Role = iota // not in the team: there is no row
	Below               // only a member of a team below
	Member
	Maintainer
)

// String returns the name of the role in payloads.
func (r Role) String() string {
	if r == Maintainer {
		return "maintainer"
	}
	return "member"
}

// Ref names a team: by the organization's login and the slug, or by ids.
type Ref struct {
	Org, Slug string
	ID        ID
	OrgID     account.ID // 0: any
}

// Access is a team that the caller may see.
type Access struct {
	*Team
	Caller *account.Caller
	Owner  bool // the caller owns the organization, or is a site administrator
	Role   Role // of the caller
}

// MayManage reports whether the caller may change who is in the team, and remove its repositories.
func (a *Access) MayManage() bool { return a.Owner || a.Role == Maintainer }

// Forge is what else happens to features when people gain or lose rights. Package forge implements it.
type Forge interface {
	BeginOrgAccess(tx *db.Tx, orgID account.ID) error
	EndOrgAccess(tx *db.Tx, orgID, by account.ID) error
}

// Service implements the operations on teams.
type Service struct {
	db    *db.DB
	repos *repo.Service
	forge Forge
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, forge Forge) *Service { return &Service{d, repos, forge} }

// Slug returns the slug of a name: its letters and digits in lower case, other runs as a hyphen. It may be empty.
func Slug(name string) string {
	var b strings.Builder
	gap := false
	for _, c := range norm.NFKD.String(name) {
		switch {
		case unicode.Is(unicode.Mn, c):
		case unicode.IsLetter(c), unicode.IsDigit(c), c == '_':
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(unicode.ToLower(c))
		default:
			gap = true
		}
	}
	return norm.NFC.String(b.String())
}

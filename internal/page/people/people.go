// Package people is the pages about people and organizations.
//
//   - /{owner}: profile.go, overview.go, and its tabs ?tab=repositories (repositories.go), stars, followers, following
//   - /settings/pins, /orgs/{org}/settings/pins: pins.go
//   - /orgs/{org}/people: members.go; /orgs/{org}/people/teams, /orgs/{org}/people/new-team: teams.go
//   - /orgs/{org}/settings, /new/organization: organization.go; .../settings/hooks: package webhook
//   - /organizations/{org}/settings/oauth_application_policy: oauthpolicy.go
//
// What somebody may not see the operations do not read, so no page shows it: private repositories, memberships
// that are not shown, activity in what is hidden.
package people

import (
	"embed"
	"html/template"
	"net/http"
	"time"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/follow"
	"arbor/internal/invitation"
	"arbor/internal/oauth"
	"arbor/internal/page"
	"arbor/internal/page/webhook"
	"arbor/internal/pin"
	"arbor/internal/repo"
	"arbor/internal/repo/collaborator"
	"arbor/internal/repo/list"
	"arbor/internal/route"
	"arbor/internal/scope"
	"arbor/internal/search/repository"
	"arbor/internal/star"
	"arbor/internal/team"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files, webhook.Files)

// Services are what the pages show and change.
type Services struct {
	Accounts   *account.Service
	Teams      *team.Service
	Follows    *follow.Service
	Stars      *star.Service
	Lists      *list.Service
	Searches   *repository.API
	Activities *activity.Service

	Collaborators *collaborator.Service
	Invitations   *invitation.Service

	OAuth *oauth.Service
	Repos *repo.Service
	Pins  *pin.Service
	// Readme renders a file of a repository's default branch; empty: there is none that can be shown.
	Readme func(r *http.Request, a *repo.Access, path string) (template.HTML, error)
}

// Pages answers the pages of this room.
type Pages struct {
	kit   *page.Kit
	t     *page.Templates
	hooks *webhook.Pages
	of    Services
}

// New returns the pages.
func New(kit *page.Kit, of Services) *Pages {
	return &Pages{kit, roomTemplates, webhook.New(kit, roomTemplates), of}
}

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	owners, people := p.kit.ForOwners(), p.kit.ForPeople()
	routes := []route.Route{
		owners.Anyone("GET /{owner}", p.Profile).Counted(),
		owners.SignedIn("POST /{owner}", p.Follow),
		people.Anyone("GET /orgs/{org}/people", p.Members),
		people.SignedIn("POST /orgs/{org}/people", p.kit.Sudo(p.ChangeMembers)),
		people.SignedIn("GET /orgs/{org}/people/teams", p.Teams),
		people.SignedIn("GET /orgs/{org}/people/new-team", p.NewTeam),
		people.SignedIn("POST /orgs/{org}/people/new-team", p.CreateTeam),
		people.SignedIn("GET /orgs/{org}/people/teams/{team_slug}", p.Team),
		people.SignedIn("POST /orgs/{org}/people/teams/{team_slug}", p.ChangeTeamMembers),
		people.SignedIn("GET /orgs/{org}/people/teams/{team_slug}/repositories", p.TeamRepos),
		people.SignedIn("POST /orgs/{org}/people/teams/{team_slug}/repositories", p.ChangeTeamRepos),
		people.SignedIn("GET /orgs/{org}/people/teams/{team_slug}/settings", p.TeamSettings),
		people.SignedIn("POST /orgs/{org}/people/teams/{team_slug}/settings", p.ChangeTeam),
		people.SignedIn("GET /settings/pins", p.PinForm),
		people.SignedIn("POST /settings/pins", p.ChangePins),
		people.SignedIn("GET /orgs/{org}/settings/pins", p.OrgPinForm),
		people.SignedIn("POST /orgs/{org}/settings/pins", p.ChangeOrgPins),
		people.SignedIn("GET /orgs/{org}/settings", p.OrgSettings),
		people.SignedIn("POST /orgs/{org}/settings", p.ChangeOrg),
		people.SignedIn("POST /orgs/{org}/settings/two-factor", p.kit.Sudo(p.RequireFactors)),
		people.SignedIn("GET /orgs/{org}/settings/delete", p.DeleteOrgForm),
		people.SignedIn("POST /orgs/{org}/settings/delete", p.kit.Sudo(p.DeleteOrg)),
		people.SignedIn("GET /organizations/{org}/settings/oauth_application_policy", p.OAuthPolicy),
		people.SignedIn("POST /organizations/{org}/settings/oauth_application_policy", p.kit.Sudo(p.ChangeOAuthPolicy)),
		people.SignedIn("GET /new/organization", p.NewOrg),
		p.kit.Router(route.Needs(scope.SiteAdmin, route.Never)).SiteAdmin("POST /new/organization", p.CreateOrg),
	}
	for _, x := range p.hooks.Routes() {
		h := func(w http.ResponseWriter, r *http.Request) error { return x.Do(w, r, p.hooksOf(r)) }
		routes = append(routes, people.SignedIn(x.Method+" /orgs/{org}/settings"+x.Path, h))
	}
	return routes
}

// shown is what pages show of a person or an organization.
type shown struct {
	page.User
	Name, Company, Blog, Location, Email, Bio string
	PublicRepos                               int64
	Followers, Following                      int64
	CreatedAt                                 time.Time
	SuspendedAt                               time.Time // for site administrators
	Permission                                string    // of an organization that the viewer belongs to
	PrivateForks                              bool
	PublicRepositories, PrivateRepositories   bool // members may create them
}

func newShown(a *account.Account) shown {
	return shown{User: *page.NewUser(a), Name: page.TextOf(a.Name), Company: page.TextOf(a.Company), Blog: page.TextOf(a.Blog),
		Location: page.TextOf(a.Location), Email: page.TextOf(a.Email), Bio: page.TextOf(a.Bio), PublicRepos: a.PublicRepos,
		Followers: a.Followers, Following: a.Following, CreatedAt: page.Moment(a.CreatedAt),
		SuspendedAt: page.Moment(a.SuspendedAt)}
}

// newOrg is newShown for an organization; members see more of it.
func newOrg(a *account.Account, may account.OrgAccess) shown {
	v := newShown(a)
	if may.Member {
		v.Permission, v.PrivateForks = a.DefaultRole.Name(), a.PrivateForks
		v.PublicRepositories, v.PrivateRepositories = a.Creation.Allows(false), a.Creation.Allows(true)
	}
	return v
}

// Website is the address that the account names, if a browser may safely follow it.
func (a *shown) Website() string { return page.WebAddress(a.Blog) }

// IsOrg reports an organization.
func (a *shown) IsOrg() bool { return a.Type == "Organization" }

// Package people is the pages about people and organizations.
//
//   - /{owner}: profile.go, and its tabs ?tab=repositories (repositories.go), stars, followers, following
//   - /orgs/{org}/people: members.go
//   - /orgs/{org}/settings, /new/organization: organization.go; .../settings/hooks: package webhook
//
// What somebody may not see the API does not answer, so no page shows it: private repositories, memberships
// that are not shown, activity in what is hidden.
package people

import (
	"embed"
	"net/http"
	"time"

	"arbor/internal/page"
	"arbor/internal/page/webhook"
	"arbor/internal/route"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files, webhook.Files)

// Pages answers the pages of this room.
type Pages struct {
	kit   *page.Kit
	t     *page.Templates
	hooks *webhook.Pages
}

// New returns the pages.
func New(kit *page.Kit) *Pages { return &Pages{kit, roomTemplates, webhook.New(kit, roomTemplates)} }

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	owners, people := p.kit.ForOwners(), p.kit.ForPeople()
	list := []route.Route{
		owners.Anyone("GET /{owner}", p.Profile),
		owners.SignedIn("POST /{owner}", p.Follow),
		people.Anyone("GET /orgs/{org}/people", p.Members),
		people.SignedIn("POST /orgs/{org}/people", p.ChangeMembers),
		people.SignedIn("GET /orgs/{org}/settings", p.OrgSettings),
		people.SignedIn("POST /orgs/{org}/settings", p.ChangeOrg),
		people.SignedIn("GET /orgs/{org}/settings/delete", p.DeleteOrgForm),
		people.SignedIn("POST /orgs/{org}/settings/delete", p.DeleteOrg),
		people.SignedIn("GET /new/organization", p.NewOrg),
		people.SignedIn("POST /new/organization", p.CreateOrg),
	}
	for _, x := range p.hooks.Routes() {
		h := func(w http.ResponseWriter, r *http.Request) error { return x.Do(w, r, p.hooksOf(r)) }
		list = append(list, people.SignedIn(x.Method+" /orgs/{org}/settings"+x.Path, h))
	}
	return list
}

// account is what pages read of a person or an organization.
type account struct {
	page.User
	Name, Company, Blog, Location, Email, Bio string
	Description                               string
	PublicRepos                               int64 `json:"public_repos"`
	Followers, Following                      int64
	CreatedAt                                 time.Time `json:"created_at"`
	SuspendedAt                               time.Time `json:"suspended_at"` // for site administrators
	Permission                                string    `json:"default_repository_permission"`
	PrivateForks                              bool      `json:"members_can_fork_private_repositories"`
}

// Website is the address that the account names, if a browser may safely follow it.
func (a *account) Website() string { return page.WebAddress(a.Blog) }

// IsOrg reports an organization.
func (a *account) IsOrg() bool { return a.Type == "Organization" }

// About is what the account says of itself.
func (a *account) About() string {
	if a.Bio != "" {
		return a.Bio
	}
	return a.Description
}

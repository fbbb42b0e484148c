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
	list := []route.Route{
		p.kit.Anyone("GET /{owner}", p.Profile),
		p.kit.SignedIn("POST /{owner}", p.Follow),
		p.kit.Anyone("GET /orgs/{org}/people", p.Members),
		p.kit.SignedIn("POST /orgs/{org}/people", p.ChangeMembers),
		p.kit.SignedIn("GET /orgs/{org}/settings", p.OrgSettings),
		p.kit.SignedIn("POST /orgs/{org}/settings", p.ChangeOrg),
		p.kit.SignedIn("GET /orgs/{org}/settings/delete", p.DeleteOrgForm),
		p.kit.SignedIn("POST /orgs/{org}/settings/delete", p.DeleteOrg),
		p.kit.SignedIn("GET /new/organization", p.NewOrg),
		p.kit.SignedIn("POST /new/organization", p.CreateOrg),
	}
	for _, x := range p.hooks.Routes() {
		h := func(w http.ResponseWriter, r *http.Request) error { return x.Do(w, r, p.hooksOf(r)) }
		list = append(list, p.kit.SignedIn(x.Method+" /orgs/{org}/settings"+x.Path, h))
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

// Package issue is the pages of issues: lists, one issue, labels and milestones.
//
//	/{owner}/{repo}/issues                     list.go, with filter.go: what menus make of ?q=
//	/{owner}/{repo}/issues/new                 new.go
//	/{owner}/{repo}/issues/{number}            issue.go; what one does there is in package talk
//	/{owner}/{repo}/labels                     label.go
//	/{owner}/{repo}/milestones, milestone/{n}  milestone.go
//	/dashboard/issues, /dashboard/pulls        dashboard.go
//
// bulk.go does one thing to several issues of a list.
package issue

import (
	"embed"

	"arbor/internal/gitdata"
	"arbor/internal/issue/deletion"
	"arbor/internal/page"
	"arbor/internal/page/talk"
	"arbor/internal/route"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Services are the features whose operations the pages call.
type Services struct {
	*talk.Pages
	Deletions *deletion.Service
	Git       *gitdata.Service
}

// Pages are the pages of issues.
type Pages struct {
	kit *page.Kit
	t   *page.Templates
	of  Services
}

// New returns the pages.
func New(kit *page.Kit, of Services) *Pages { return &Pages{kit, roomTemplates, of} }

// Routes are the addresses of the pages.
func (p *Pages) Routes() []route.Route {
	on, own := p.kit.OnRepo, p.kit.ForPeople()
	return []route.Route{
		on("GET /{owner}/{repo}/issues", p.List),
		on("POST /{owner}/{repo}/issues", p.Create),
		on("GET /{owner}/{repo}/issues/new", p.New),
		on("POST /{owner}/{repo}/issues/bulk", p.Bulk),
		on("GET /{owner}/{repo}/issues/filter/{what}", p.Filter),
		on("GET /{owner}/{repo}/issues/{number}", p.Issue),
		on("GET /{owner}/{repo}/labels", p.Labels),
		on("POST /{owner}/{repo}/labels", p.SaveLabel),
		on("GET /{owner}/{repo}/milestones", p.Milestones),
		on("POST /{owner}/{repo}/milestones", p.CreateMilestone),
		on("GET /{owner}/{repo}/milestones/new", p.NewMilestone),
		on("POST /{owner}/{repo}/milestones/{number}", p.ChangeMilestone),
		on("GET /{owner}/{repo}/milestones/{number}/edit", p.EditMilestone),
		on("GET /{owner}/{repo}/milestone/{number}", p.Milestone),
		own.SignedIn("GET /dashboard/issues", p.Issues).Counted(),
		own.SignedIn("GET /dashboard/pulls", p.Pulls).Counted(),
		own.SignedIn("GET /dashboard/filter/{what}", p.Order),
	}
}

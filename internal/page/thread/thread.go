// Package thread is the pages of issues: lists, one issue, labels and milestones.
//
//	/{owner}/{repo}/issues                     list.go, with filter.go: what menus make of ?q=
//	/{owner}/{repo}/issues/new                 new.go
//	/{owner}/{repo}/issues/{number}            issue.go; what one does there is in package talk
//	/{owner}/{repo}/labels                     label.go
//	/{owner}/{repo}/milestones, milestone/{n}  milestone.go
//	/dashboard/issues, /dashboard/pulls        dashboard.go
package thread

import (
	"embed"

	"arbor/internal/page"
	"arbor/internal/route"
)

//go:embed templates
var files embed.FS

// Pages are the pages of issues.
type Pages struct {
	kit *page.Kit
	t   *page.Templates
}

// New makes the pages.
func New(kit *page.Kit) *Pages { return &Pages{kit, kit.Templates(files)} }

// Routes are the addresses of the pages.
func (p *Pages) Routes() []route.Route {
	on := p.kit.OnRepo
	return []route.Route{
		on("GET /{owner}/{repo}/issues/{number}", p.Issue),
	}
}

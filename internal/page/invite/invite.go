// Package invite serves the pages where people answer invitations:
//
//	GET, POST /{owner}/{repo}/invitations   repository.go: to a repository, which the invitee need not see yet
//	GET, POST /orgs/{org}/invitation        organization.go: to an organization
//
// The inbox lists open invitations.
package invite

import (
	"embed"
	"net/http"

	"arbor/internal/errs"
	"arbor/internal/invitation"
	"arbor/internal/page"
	"arbor/internal/route"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Pages answers the pages of this room.
type Pages struct {
	kit     *page.Kit
	t       *page.Templates
	invites *invitation.Service
}

// New returns the pages.
func New(kit *page.Kit, invites *invitation.Service) *Pages {
	return &Pages{kit, roomTemplates, invites}
}

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	own := p.kit.ForPeople()
	return []route.Route{
		own.SignedIn("GET /{owner}/{repo}/invitations", p.ToRepo),
		own.SignedIn("POST /{owner}/{repo}/invitations", p.AnswerToRepo),
		own.SignedIn("GET /orgs/{org}/invitation", p.ToOrg),
		own.SignedIn("POST /orgs/{org}/invitation", p.AnswerToOrg),
	}
}

// answerOf reads whether the form accepts. Error: 422 for a form that says neither.
func answerOf(r *http.Request) (accepts bool, err error) {
	f, err := page.ReadForm(r)
	if err != nil {
		return false, err
	}
	switch f.Get("answer") {
	case "accept":
		return true, nil
	case "decline":
		return false, nil
	}
	return false, errs.New(errs.Invalid, "The form does not say what to answer.")
}

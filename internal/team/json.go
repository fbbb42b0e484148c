package team

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Simple is GitHub's team-simple.
type Simple struct {
	ID             ID         `json:"id"`
	NodeID         string     `json:"node_id"`
	Name           string     `json:"name"`
	Slug           string     `json:"slug"`
	Description    *string    `json:"description"`
	Privacy        string     `json:"privacy"`
	Notifications  string     `json:"notification_setting"`
	Permission     string     `json:"permission"`
	URL            string     `json:"url"`
	HTMLURL        string     `json:"html_url"`
	MembersURL     string     `json:"members_url"`
	RepositoryURL  string     `json:"repositories_url"`
	Type           string     `json:"type"`
	OrganizationID account.ID `json:"organization_id"`
}

// Privacy returns the name of the team's visibility in payloads.
func (t *Team) Privacy() string {
	if t.Secret {
		return "secret"
	}
	return "closed"
}

// Notifications returns the name of the team's setting in payloads.
func (t *Team) Notifications() string {
	if t.Quiet {
		return "notifications_disabled"
	}
	return "notifications_enabled"
}

// NewSimple renders a team without its parent.
func NewSimple(t *Team, i *web.Info) *Simple {
	api := i.API("/organizations/" + t.Org.ID.String() + "/team/" + t.ID.String())
	return &Simple{ID: t.ID, NodeID: account.NodeID("Team", t.ID), Name: t.Name, Slug: t.Slug,
		Description: t.Description, Privacy: t.Privacy(), Notifications: t.Notifications(),
		Permission: account.Pull.String(), URL: api, HTMLURL: i.Page(t.Path()), MembersURL: api +
			"/members{/member}",
		RepositoryURL: api + "/repos", Type: "organization", OrganizationID: t.Org.ID}
}

// Path is the address of the team's page.
func (t *Team) Path() string { return web.Path("orgs", t.Org.Login, "people", "teams", t.Slug) }

// Payload is GitHub's team.
type Payload struct {
	Simple
	Parent *Simple `json:"parent"`
	// of the team on a repository, in its list
	Permissions *repo.Permissions `json:"permissions,omitempty"`
}

func newPayload(t *Team, i *web.Info) *Payload {
	p := &Payload{Simple: *NewSimple(t, i)}
	if t.Parent != nil {
		p.Parent = NewSimple(t.Parent, i)
	}
	return p
}

// NewPayloads renders teams for lists.
func NewPayloads(list []*Team, i *web.Info) []*Payload {
	out := make([]*Payload, len(list))
	for n, t := range list {
		out[n] = newPayload(t, i)
	}
	return out
}

// FullPayload is GitHub's team-full.
type FullPayload struct {
	*Payload
	MembersCount int64   `json:"members_count"`
	ReposCount   int64   `json:"repos_count"`
	CreatedAt    db.Time `json:"created_at"`
	UpdatedAt    db.Time `json:"updated_at"`
	Organization any     `json:"organization"`
}

// membershipJSON is GitHub's team-membership.
type membershipJSON struct {
	URL   string `json:"url"`
	Role  string `json:"role"`
	State string `json:"state"` // always active
}

func newMembership(m *Membership, i *web.Info) membershipJSON {
	return membershipJSON{URL: NewSimple(m.Team, i).URL + "/memberships/" + m.Login, Role: m.Role.String(),
		State: "active"}
}

// repoJSON is a repository with the role of the team in place of the caller's.
type repoJSON struct {
	*repo.Payload
	RoleName string `json:"role_name"`
}

func newRepo(a *repo.Access, role account.Role, i *web.Info) repoJSON {
	p := repoJSON{repo.NewPayload(a, i), role.Name()}
	p.Permissions = repo.NewPermissions(role)
	return p
}

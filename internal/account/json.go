package account

import (
	"encoding/base64"
	"net/url"
	"strconv"

	"arbor/internal/db"
	"arbor/internal/scope"
	"arbor/internal/web"
)

// NodeID returns the opaque node_id of a resource (decision 28).
func NodeID[ID ~int64](kind string, id ID) string {
	return base64.RawURLEncoding.EncodeToString(strconv.AppendInt([]byte(kind+":"), int64(id), 10))
}

// AppendNodeID appends the result of NodeID.
func AppendNodeID[ID ~int64](b []byte, kind string, id ID) []byte {
	var room [48]byte
	return base64.RawURLEncoding.AppendEncode(b,
		strconv.AppendInt(append(append(room[:0], kind...), ':'), int64(id), 10))
}

// avatarAddress is where the picture of an account is served.
func avatarAddress(id ID, i *web.Info) string {
	return i.Page("/avatars/" + id.String())
}

// Simple is GitHub's simple-user: an account in other payloads.
type Simple struct {
	Login             string `json:"login"`
	ID                ID     `json:"id"`
	NodeID            string `json:"node_id"`
	AvatarURL         string `json:"avatar_url"`
	GravatarID        string `json:"gravatar_id"`
	URL               string `json:"url"`
	HTMLURL           string `json:"html_url"`
	FollowersURL      string `json:"followers_url"`
	FollowingURL      string `json:"following_url"`
	GistsURL          string `json:"gists_url"`
	StarredURL        string `json:"starred_url"`
	SubscriptionsURL  string `json:"subscriptions_url"`
	OrganizationsURL  string `json:"organizations_url"`
	ReposURL          string `json:"repos_url"`
	EventsURL         string `json:"events_url"`
	ReceivedEventsURL string `json:"received_events_url"`
	Type              string `json:"type"`
	UserViewType      string `json:"user_view_type"`
	SiteAdmin         bool   `json:"site_admin"`
}

// NewSimple returns the simple form of an account for the request that i belongs
// to; nil of a nil account.
func NewSimple(a *Account, i *web.Info) *Simple {
	if a == nil {
		return nil
	}
	login := a.Login
	if a.Kind == Bot || a.Kind == Mannequin { // its login has brackets
		login = url.PathEscape(login)
	}
	url := i.API("/users/" + login)
	return &Simple{
		Login:             a.Login,
		ID:                a.ID,
		NodeID:            NodeID(a.Kind.String(), a.ID),
		AvatarURL:         avatarAddress(a.ID, i),
		URL:               url,
		HTMLURL:           i.Page("/" + login),
		FollowersURL:      url + "/followers",
		FollowingURL:      url + "/following{/other_user}",
		GistsURL:          url + "/gists{/gist_id}",
		StarredURL:        url + "/starred{/owner}{/repo}",
		SubscriptionsURL:  url + "/subscriptions",
		OrganizationsURL:  url + "/orgs",
		ReposURL:          url + "/repos",
		EventsURL:         url + "/events{/privacy}",
		ReceivedEventsURL: url + "/received_events",
		Type:              a.Kind.String(),
		UserViewType:      "public",
		SiteAdmin:         a.SiteAdmin,
	}
}

// NewSimples is NewSimple for each account of a list.
func NewSimples(list []*Account, i *web.Info) []*Simple {
	out := make([]*Simple, len(list))
	for k, a := range list {
		out[k] = NewSimple(a, i)
	}
	return out
}

// fullUser is GitHub's public-user; with private set, its private-user.
type fullUser struct {
	Simple
	Name            *string `json:"name"`
	Company         *string `json:"company"`
	Blog            *string `json:"blog"`
	Location        *string `json:"location"`
	Email           *string `json:"email"`
	Hireable        *bool   `json:"hireable"`
	Bio             *string `json:"bio"`
	TwitterUsername *string `json:"twitter_username"`
	PublicRepos     int64   `json:"public_repos"`
	PublicGists     int64   `json:"public_gists"`
	Followers       int64   `json:"followers"`
	Following       int64   `json:"following"`
	CreatedAt       db.Time `json:"created_at"`
	UpdatedAt       db.Time `json:"updated_at"`
	*privateUser
	SuspendedAt *db.Time `json:"suspended_at,omitempty"` // for site administrators; null: is not suspended
}

// privateUser is what people see of themselves only.
type privateUser struct {
	PrivateGists            int64 `json:"private_gists"`
	TotalPrivateRepos       int64 `json:"total_private_repos"`
	OwnedPrivateRepos       int64 `json:"owned_private_repos"`
	DiskUsage               int64 `json:"disk_usage"`
	Collaborators           int64 `json:"collaborators"`
	TwoFactorAuthentication bool  `json:"two_factor_authentication"`
}

// newFullUser returns the public form.
func newFullUser(a *Account, i *web.Info, caller *Caller) *fullUser {
	a = a.seenBy(caller)
	u := &fullUser{
		Simple: *NewSimple(a, i), Name: a.Name, Company: a.Company, Blog: a.Blog, Location: a.Location,
		Email: a.Email, Bio: a.Bio, PublicRepos: a.PublicRepos, Followers: a.Followers,
		Following: a.Following,
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt,
	}
	if caller != nil && caller.SiteAdmin {
		u.SuspendedAt = &a.SuspendedAt
	}
	return u
}

// newPrivateUser returns the form that people see of themselves.
func newPrivateUser(a *Account, i *web.Info, caller *Caller) *fullUser {
	u := newFullUser(a, i, caller)
	u.UserViewType = "private"
	u.privateUser = &privateUser{TwoFactorAuthentication: a.TwoFactor}
	if caller.Reach == Everything {
		u.TotalPrivateRepos, u.OwnedPrivateRepos = a.PrivateRepos, a.PrivateRepos
	}
	return u
}

// simpleOrg is GitHub's organization-simple.
type simpleOrg struct {
	Login            string  `json:"login"`
	ID               ID      `json:"id"`
	NodeID           string  `json:"node_id"`
	URL              string  `json:"url"`
	ReposURL         string  `json:"repos_url"`
	EventsURL        string  `json:"events_url"`
	HooksURL         string  `json:"hooks_url"`
	IssuesURL        string  `json:"issues_url"`
	MembersURL       string  `json:"members_url"`
	PublicMembersURL string  `json:"public_members_url"`
	AvatarURL        string  `json:"avatar_url"`
	Description      *string `json:"description"`
}

func newSimpleOrg(a *Account, i *web.Info) simpleOrg {
	url := i.API("/orgs/" + a.Login)
	return simpleOrg{
		Login:            a.Login,
		ID:               a.ID,
		NodeID:           NodeID(a.Kind.String(), a.ID),
		URL:              url,
		ReposURL:         url + "/repos",
		EventsURL:        url + "/events",
		HooksURL:         url + "/hooks",
		IssuesURL:        url + "/issues",
		MembersURL:       url + "/members{/member}",
		PublicMembersURL: url + "/public_members{/member}",
		AvatarURL:        avatarAddress(a.ID, i),
		Description:      a.Bio,
	}
}

// fullOrg is GitHub's organization-full, as far as Arbor has the concepts.
type fullOrg struct {
	simpleOrg
	Name                    *string `json:"name"`
	Company                 *string `json:"company"`
	Blog                    *string `json:"blog"`
	Location                *string `json:"location"`
	Email                   *string `json:"email"`
	HasOrganizationProjects bool    `json:"has_organization_projects"`
	HasRepositoryProjects   bool    `json:"has_repository_projects"`
	PublicRepos             int64   `json:"public_repos"`
	PublicGists             int64   `json:"public_gists"`
	Followers               int64   `json:"followers"`
	Following               int64   `json:"following"`
	HTMLURL                 string  `json:"html_url"`
	CreatedAt               db.Time `json:"created_at"`
	UpdatedAt               db.Time `json:"updated_at"`
	ArchivedAt              db.Time `json:"archived_at"`
	Type                    string  `json:"type"`
	*privateOrg
}

// privateOrg is what members see of their organization only. How many private
// repositories there are, those see who see each of them; it is 0 for others.
type privateOrg struct {
	TotalPrivateRepos       int64  `json:"total_private_repos"`
	OwnedPrivateRepos       int64  `json:"owned_private_repos"`
	PrivateGists            int64  `json:"private_gists"`
	DiskUsage               int64  `json:"disk_usage"`
	Collaborators           int64  `json:"collaborators"`
	MembersCanCreateRepos   bool   `json:"members_can_create_repositories"`
	MembersCanCreatePublic  bool   `json:"members_can_create_public_repositories"`
	MembersCanCreatePrivate bool   `json:"members_can_create_private_repositories"`
	RepositoryCreation      string `json:"members_allowed_repository_creation_type"`
	MembersCanForkPrivate   bool   `json:"members_can_fork_private_repositories"`
	*ownersOrg
	TwoFactorRequired           *bool  `json:"two_factor_requirement_enabled"` // null unless the caller is an owner
	DefaultRepositoryPermission string `json:"default_repository_permission"`
}

// ownersOrg is what owners see of their organization only.
type ownersOrg struct {
	BillingEmail *string `json:"billing_email"`
}

func newFullOrg(a *Account, i *web.Info, may OrgAccess, caller *Caller) *fullOrg {
	o := &fullOrg{
		simpleOrg: newSimpleOrg(a, i), Name: a.Name, Company: a.Company, Blog: a.Blog, Location: a.Location,
		Email: a.Email, PublicRepos: a.PublicRepos, Followers: a.Followers, Following: a.Following,
		HTMLURL:   i.Page("/" + a.Login),
		CreatedAt: a.CreatedAt, UpdatedAt: a.UpdatedAt, Type: a.Kind.String(),
	}
	if may.Member {
		o.privateOrg = &privateOrg{
			DefaultRepositoryPermission: a.DefaultRole.Name(),
			MembersCanCreateRepos:       !a.Creation.NoRepos,
			MembersCanCreatePublic:      !a.Creation.NoPublic,
			MembersCanCreatePrivate:     !a.Creation.NoPrivate,
			RepositoryCreation:          a.Creation.Type(),
			MembersCanForkPrivate:       a.PrivateForks,
		}
	}
	if may.Owner {
		o.TwoFactorRequired = &a.FactorsRequired
	}
	if may.Owner && caller.Allows(scope.AdminOrg, false) == nil {
		o.ownersOrg = &ownersOrg{a.BillingEmail}
	}
	if (may.Owner || may.Member && a.DefaultRole > None) && caller.Reach == Everything {
		o.TotalPrivateRepos, o.OwnedPrivateRepos = a.PrivateRepos, a.PrivateRepos
	}
	return o
}

// OrgsByID renders organizations in full, as everybody sees them, by id.
func OrgsByID(tx *db.Tx, ids []ID, caller *Caller, i *web.Info) (map[ID]any, error) {
	list, err := ByIDs(tx, ids)
	out := map[ID]any{}
	for id, org := range list {
		out[id] = newFullOrg(org, i, OrgAccess{}, caller)
	}
	return out, err
}

// NewOrganization renders an organization as GitHub's organization-simple.
func NewOrganization(a *Account, i *web.Info) any { return newSimpleOrg(a, i) }

// MembershipOf renders a membership.
func MembershipOf(m *Membership, i *web.Info) any { return newMembership(m, i) }

// membershipJSON is GitHub's org-membership.
type membershipJSON struct {
	URL             string    `json:"url"`
	State           string    `json:"state"` // active; pending: an invitation
	Role            string    `json:"role"`
	OrganizationURL string    `json:"organization_url"`
	Organization    simpleOrg `json:"organization"`
	User            *Simple   `json:"user"`
}

func newMembership(m *Membership, i *web.Info) membershipJSON {
	role := "member"
	if m.Owner {
		role = "admin"
	}
	state := "active"
	if m.Pending {
		state = "pending"
	}
	org := newSimpleOrg(m.Org, i)
	return membershipJSON{
		URL: org.URL + "/memberships/" + m.User.Login, State: state, Role: role,
		OrganizationURL: org.URL, Organization: org, User: NewSimple(m.User, i),
	}
}

package repo

import (
	"context"
	"net/http"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/license"
	"arbor/internal/web"
)

// Payload is a repository in GitHub's v3 format for lists (decision 28). ARCHITECTURE.md says which of its
// addresses exist, and which are there only because GitHub's schema requires them (decision 9).
type Payload struct {
	ID               ID              `json:"id"`
	NodeID           string          `json:"node_id"`
	Name             string          `json:"name"`
	FullName         string          `json:"full_name"`
	Private          bool            `json:"private"`
	Owner            *account.Simple `json:"owner"`
	HTMLURL          string          `json:"html_url"`
	Description      *string         `json:"description"`
	Fork             bool            `json:"fork"`
	URL              string          `json:"url"`
	ForksURL         string          `json:"forks_url"`
	KeysURL          string          `json:"keys_url"`
	CollaboratorsURL string          `json:"collaborators_url"`
	TeamsURL         string          `json:"teams_url"`
	HooksURL         string          `json:"hooks_url"`
	IssueEventsURL   string          `json:"issue_events_url"`
	EventsURL        string          `json:"events_url"`
	AssigneesURL     string          `json:"assignees_url"`
	BranchesURL      string          `json:"branches_url"`
	TagsURL          string          `json:"tags_url"`
	BlobsURL         string          `json:"blobs_url"`
	GitTagsURL       string          `json:"git_tags_url"`
	GitRefsURL       string          `json:"git_refs_url"`
	TreesURL         string          `json:"trees_url"`
	StatusesURL      string          `json:"statuses_url"`
	LanguagesURL     string          `json:"languages_url"`
	StargazersURL    string          `json:"stargazers_url"`
	ContributorsURL  string          `json:"contributors_url"`
	SubscribersURL   string          `json:"subscribers_url"`
	SubscriptionURL  string          `json:"subscription_url"`
	CommitsURL       string          `json:"commits_url"`
	GitCommitsURL    string          `json:"git_commits_url"`
	CommentsURL      string          `json:"comments_url"`
	IssueCommentURL  string          `json:"issue_comment_url"`
	ContentsURL      string          `json:"contents_url"`
	CompareURL       string          `json:"compare_url"`
	MergesURL        string          `json:"merges_url"`
	ArchiveURL       string          `json:"archive_url"`
	DownloadsURL     string          `json:"downloads_url"`
	IssuesURL        string          `json:"issues_url"`
	PullsURL         string          `json:"pulls_url"`
	MilestonesURL    string          `json:"milestones_url"`
	NotificationsURL string          `json:"notifications_url"`
	LabelsURL        string          `json:"labels_url"`
	ReleasesURL      string          `json:"releases_url"`
	DeploymentsURL   string          `json:"deployments_url"`
	CreatedAt        db.Time         `json:"created_at"`
	UpdatedAt        db.Time         `json:"updated_at"`
	PushedAt         db.Time         `json:"pushed_at"`
	GitURL           string          `json:"git_url"`
	SSHURL           string          `json:"ssh_url"`
	CloneURL         string          `json:"clone_url"`
	SVNURL           string          `json:"svn_url"`
	Homepage         *string         `json:"homepage"`
	Size             int64           `json:"size"`
	StargazersCount  int64           `json:"stargazers_count"`
	WatchersCount    int64           `json:"watchers_count"`
	Language         *string         `json:"language"`
	HasIssues        bool            `json:"has_issues"`
	HasProjects      bool            `json:"has_projects"`
	HasDownloads     bool            `json:"has_downloads"`
	HasWiki          bool            `json:"has_wiki"`
	HasPages         bool            `json:"has_pages"`
	HasDiscussions   bool            `json:"has_discussions"`
	ForksCount       int64           `json:"forks_count"`
	MirrorURL        *string         `json:"mirror_url"`
	Archived         bool            `json:"archived"`
	Disabled         bool            `json:"disabled"`
	OpenIssuesCount  int64           `json:"open_issues_count"`
	License          *license.Simple `json:"license"`
	AllowForking     bool            `json:"allow_forking"`
	IsTemplate       bool            `json:"is_template"`
	SignoffRequired  bool            `json:"web_commit_signoff_required"`
	Topics           []string        `json:"topics"`
	Visibility       string          `json:"visibility"`
	Forks            int64           `json:"forks"`
	OpenIssues       int64           `json:"open_issues"`
	Watchers         int64           `json:"watchers"`
	DefaultBranch    string          `json:"default_branch"`
	Permissions      *Permissions    `json:"permissions,omitempty"`
}

// FullPayload is a single repository.
type FullPayload struct {
	*Payload
	Organization     *account.Simple `json:"organization,omitempty"`
	Parent           *Payload        `json:"parent,omitempty"`              // of a fork
	Source           *Payload        `json:"source,omitempty"`              // the root of its network
	Template         *Payload        `json:"template_repository,omitempty"` // that it was created from
	NetworkCount     int64           `json:"network_count"`
	SubscribersCount int64           `json:"subscribers_count"`
	*MergingPayload                  // for callers with push access
}

// Permissions is a role as payloads show it.
type Permissions struct {
	Admin    bool `json:"admin"`
	Maintain bool `json:"maintain"`
	Push     bool `json:"push"`
	Triage   bool `json:"triage"`
	Pull     bool `json:"pull"`
}

// NewPermissions renders a role.
func NewPermissions(role account.Role) *Permissions {
	return &Permissions{
		Admin: role >= account.Admin, Maintain: role >= account.Maintain,
		Push: role >= account.Push, Triage: role >= account.Triage, Pull: role >= account.Pull,
	}
}

// Role returns the role that the permissions show; that of a nil pointer, which anonymous callers get, is Pull.
func (p *Permissions) Role() account.Role {
	switch {
	case p == nil:
		return account.Pull
	case p.Admin:
		return account.Admin
	case p.Maintain:
		return account.Maintain
	case p.Push:
		return account.Push
	case p.Triage:
		return account.Triage
	}
	return account.Pull
}

// NewPayload renders a repository for the caller of the access. As at GitHub, anonymous callers get no
// permissions.
func NewPayload(a *Access, i *web.Info) *Payload {
	r := a.Repo
	path := web.Path("repos", r.Owner.Login, r.Name)
	api := i.API(path)
	page := i.Page(web.Path(r.Owner.Login, r.Name))
	p := &Payload{
		ID: r.ID, NodeID: account.NodeID("Repository", r.ID), Name: r.Name, FullName: r.FullName(),
		Private: r.Private,
		Owner:   account.NewSimple(&r.Owner, i), HTMLURL: page, Description: r.Description, URL: api,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, PushedAt: r.PushedAt,
		Fork: r.ParentID != 0, StargazersCount: r.Stars, WatchersCount: r.Stars, Watchers: r.Stars,
		ForksCount: r.Forks, Forks: r.Forks,
		CloneURL: page + ".git", Homepage: r.Homepage, Size: r.SizeKB, HasIssues: r.HasIssues,
		Archived:        r.Archived,
		IsTemplate:      r.IsTemplate,
		OpenIssuesCount: r.OpenIssues, OpenIssues: r.OpenIssues, AllowForking: r.AllowForking,
		Topics: r.Topics.Names(), Language: r.Language, License: license.NewSimple(r.License, i),
		Visibility: "public", DefaultBranch: r.DefaultBranch,
	}
	if r.Private {
		p.Visibility = "private"
	}
	if r.MirrorURL != "" {
		p.MirrorURL = &r.MirrorURL
	}
	if a.Caller != nil && !i.ForHook {
		p.Permissions = NewPermissions(a.Role)
	}
	p.link(api)
	host := i.Host()
	p.GitURL = "git://" + host + web.Path(r.Owner.Login, r.Name) + ".git"
	p.SSHURL = i.SSH(r.FullName())
	p.SVNURL = page
	return p
}

// NewPayloads renders repositories for lists.
func NewPayloads(list []*Access, i *web.Info) []*Payload {
	out := make([]*Payload, len(list))
	for n, a := range list {
		out[n] = NewPayload(a, i)
	}
	return out
}

// link sets the addresses below the repository's own.
func (p *Payload) link(api string) {
	p.ForksURL = api + "/forks"
	p.KeysURL = api + "/keys{/key_id}"
	p.CollaboratorsURL = api + "/collaborators{/collaborator}"
	p.TeamsURL = api + "/teams"
	p.HooksURL = api + "/hooks"
	p.IssueEventsURL = api + "/issues/events{/number}"
	p.EventsURL = api + "/events"
	p.AssigneesURL = api + "/assignees{/user}"
	p.BranchesURL = api + "/branches{/branch}"
	p.TagsURL = api + "/tags"
	p.BlobsURL = api + "/git/blobs{/sha}"
	p.GitTagsURL = api + "/git/tags{/sha}"
	p.GitRefsURL = api + "/git/refs{/sha}"
	p.TreesURL = api + "/git/trees{/sha}"
	p.StatusesURL = api + "/statuses/{sha}"
	p.LanguagesURL = api + "/languages"
	p.StargazersURL = api + "/stargazers"
	p.ContributorsURL = api + "/contributors"
	p.SubscribersURL = api + "/subscribers"
	p.SubscriptionURL = api + "/subscription"
	p.CommitsURL = api + "/commits{/sha}"
	p.GitCommitsURL = api + "/git/commits{/sha}"
	p.CommentsURL = api + "/comments{/number}"
	p.IssueCommentURL = api + "/issues/comments{/number}"
	p.ContentsURL = api + "/contents/{+path}"
	p.CompareURL = api + "/compare/{base}...{head}"
	p.MergesURL = api + "/merges"
	p.ArchiveURL = api + "/{archive_format}{/ref}"
	p.DownloadsURL = api + "/downloads"
	p.IssuesURL = api + "/issues{/number}"
	p.PullsURL = api + "/pulls{/number}"
	p.MilestonesURL = api + "/milestones{/number}"
	p.NotificationsURL = api + "/notifications{?since,all,participating}"
	p.LabelsURL = api + "/labels{/name}"
	p.ReleasesURL = api + "/releases{/id}"
	p.DeploymentsURL = api + "/deployments"
}

// NewFullPayload renders a single repository.
func NewFullPayload(a *Access, from Lineage, i *web.Info) *FullPayload {
	f := &FullPayload{Payload: NewPayload(a, i), NetworkCount: a.NetworkForks, SubscribersCount: a.Watchers,
		MergingPayload: newMergingPayload(a)}
	if a.Owner.Kind == account.Organization {
		f.Organization = f.Owner
	}
	if from.Parent != nil {
		f.Parent = NewPayload(from.Parent, i)
	}
	if from.Source != nil {
		f.Source = NewPayload(from.Source, i)
	}
	if from.Template != nil {
		f.Template = NewPayload(from.Template, i)
	}
	return f
}

// Resource is the name of repositories in validation errors.
const Resource = "Repository"

// Answer writes the full form of a repository as the response.
func (s *Service) Answer(w http.ResponseWriter, r *http.Request, status int, a *Access) error {
	from, err := s.Lineage(r.Context(), a)
	if err != nil {
		return err
	}
	return web.JSON(w, r, status, NewFullPayload(a, from, web.From(r.Context())))
}

// Topics holds the names of a repository's topics in their order, separated by spaces.
type Topics string

// Names returns the topics. It is never nil.
func (t Topics) Names() []string {
	names := strings.Fields(string(t))
	if names == nil {
		names = []string{}
	}
	return names
}

// Lineage holds the origins of a repository that are visible to the caller.
type Lineage struct {
	Parent *Access
	Source *Access // the root of the network

	Template *Access // that the repository was generated from
}

// Lineage reads a repository's parent, source and template, each nil if there is none.
func (s *Service) Lineage(ctx context.Context, a *Access) (Lineage, error) {
	if a.ParentID == 0 && a.TemplateID == 0 {
		return Lineage{}, nil
	}
	var l Lineage
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		list, err := ByIDs(tx, a.Caller, []ID{a.ParentID, a.NetworkID, a.TemplateID})
		l = Lineage{Template: list[a.TemplateID]}
		if a.ParentID != 0 {
			l.Parent, l.Source = list[a.ParentID], list[a.NetworkID]
		}
		return err
	})
	return l, err
}

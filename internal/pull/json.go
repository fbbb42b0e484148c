package pull

import (
	"context"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/label"
	"arbor/internal/milestone"
	"arbor/internal/pull/automerge"
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/status"
	"arbor/internal/team"
	"arbor/internal/web"
)

// page holds pull requests of repositories and everything that their payloads show.
type page struct {
	*issue.Page
	info     *web.Info
	bases    map[repo.ID]*repo.Access
	repos    map[repo.ID]*repo.Payload // the bases, and the repositories of heads that the caller may see
	heads    map[repo.ID]*repo.Access  // the same
	pulls    map[issue.ID]*Pull        // by id of the issue
	asked    map[issue.ID][]account.ID // who is asked for a review, by id of the issue
	owners   map[request]bool          // which of them are asked as code owners
	teams    map[issue.ID][]askedTeam  // the same, for members of the organization
	at       map[repo.ID]*issuekit.Addresses
	full     bool
	checks   map[repo.Of[git.SHA]]checkrun.Summary // of the heads, for the full form
	statuses map[repo.Of[git.SHA]]status.Summary
	outlooks map[int64]*rule.Outlook // what rules ask, for the full form
	behind   map[issue.ID]bool       // the head lacks commits of the base, which a rule forbids
	autos    map[issue.ID]*automerge.Request
}

// form is how much of a single pull request a page has.
type form uint8

const (
	brief  form = iota // as lists have it
	whole              // with the members of fullPayload
	viewed             // for pages: with reactions
)

// newPage returns an empty page for repositories, whose accesses have the same caller.
func newPage(ctx context.Context, bases ...*repo.Access) *page {
	info := web.From(ctx)
	p := &page{Page: issue.NewPage(ctx, bases...), info: info, bases: map[repo.ID]*repo.Access{},
		repos: map[repo.ID]*repo.Payload{}, heads: map[repo.ID]*repo.Access{}, at: map[repo.ID]*issuekit.Addresses{}}
	for _, a := range bases {
		p.bases[a.ID], p.at[a.ID] = a, issuekit.NewAddresses(info, a.Repo)
		p.repos[a.ID], p.heads[a.ID] = repo.NewPayload(a, info), a
	}
	return p
}

// load reads everything that the pull requests of the page refer to.
func (p *page) load(tx *db.Tx) error {
	ids := make([]issue.ID, 0, len(p.Issues()))
	for _, i := range p.Issues() {
		ids = append(ids, i.ID)
	}
	var err error
	if p.pulls, err = ByIDs(tx, ids); err != nil {
		return err
	}
	if p.asked, p.owners, err = requestedOf(tx, ids); err != nil {
		return err
	}
	if p.teams, err = requestedTeamsOf(tx, p.ofInsiders()); err != nil {
		return err
	}
	var people []account.ID
	for _, a := range p.bases {
		people = append(people, a.OwnerID)
	}
	var tips []repo.Of[git.SHA]
	for _, pull := range p.pulls {
		tips = append(tips, p.headOf(pull))
		people = append(people, pull.HeadOwnerID, pull.MergedBy)
	}
	if err := p.loadHeads(tx); err != nil {
		return err
	}
	enabled, err := p.loadAuto(tx)
	if err != nil {
		return err
	}
	people = append(people, enabled...)
	if p.full {
		if p.statuses, err = status.Combined(tx, tips); err != nil {
			return err
		}
		if p.checks, err = checkrun.Combined(tx, tips); err != nil {
			return err
		}
		if p.outlooks, err = rule.Outlooks(tx, p.candidates()); err != nil {
			return err
		}
	}
	return p.Load(tx, append(people, p.reviewers()...)...)
}

// ofInsiders returns the issues of the page whose repositories belong to an organization of the caller.
func (p *page) ofInsiders() (ids []issue.ID) {
	for _, i := range p.Issues() {
		if a := p.bases[i.RepoID]; a.Owner.Kind == account.Organization && a.Insider() {
			ids = append(ids, i.ID)
		}
	}
	return ids
}

// loadHeads reads the repositories of heads.
func (p *page) loadHeads(tx *db.Tx) error {
	var heads []repo.ID
	var caller *account.Caller
	for _, pull := range p.pulls {
		if pull.HeadRepoID != 0 && p.bases[pull.HeadRepoID] == nil {
			heads, caller = append(heads, pull.HeadRepoID), p.bases[pull.RepoID].Caller
		}
	}
	forks, err := repo.Accesses(tx, caller, db.Unique(heads))
	for _, a := range forks {
		if a.Role >= account.Pull { // a fork is as visible as what it was forked from, but for an instant
			p.repos[a.ID], p.heads[a.ID] = repo.NewPayload(a, p.info), a
		}
	}
	return err
}

// headOf returns the head of a pull request as a commit of its base repository.
func (p *page) headOf(pull *Pull) repo.Of[git.SHA] {
	return repo.Of[git.SHA]{In: p.bases[pull.RepoID], Key: pull.HeadSHA}
}

// Payload is GitHub's pull-request-simple (decision 28), or with full its pull-request.
type Payload struct {
	URL      string          `json:"url"`
	ID       issue.ID        `json:"id"`
	NodeID   string          `json:"node_id"`
	HTMLURL  string          `json:"html_url"`
	DiffURL  string          `json:"diff_url"`
	PatchURL string          `json:"patch_url"`
	IssueURL string          `json:"issue_url"`
	Number   int64           `json:"number"`
	State    string          `json:"state"`
	Locked   bool            `json:"locked"`
	Title    string          `json:"title"`
	User     *account.Simple `json:"user"`
	text.Payload
	CreatedAt         db.Time            `json:"created_at"`
	UpdatedAt         db.Time            `json:"updated_at"`
	ClosedAt          db.Time            `json:"closed_at"`
	MergedAt          db.Time            `json:"merged_at"`
	MergeCommit       *git.SHA           `json:"merge_commit_sha"`
	Assignee          *account.Simple    `json:"assignee"`
	Assignees         []*account.Simple  `json:"assignees,omitzero"`
	Reviewers         []*account.Simple  `json:"requested_reviewers"`
	Teams             []*team.Simple     `json:"requested_teams"`
	Labels            []*label.Payload   `json:"labels"`
	Milestone         *milestone.Payload `json:"milestone"`
	Draft             bool               `json:"draft"`
	CommitsURL        string             `json:"commits_url"`
	ReviewCommentsURL string             `json:"review_comments_url"`
	ReviewCommentURL  string             `json:"review_comment_url"`
	CommentsURL       string             `json:"comments_url"`
	StatusesURL       string             `json:"statuses_url"`
	Head              side               `json:"head"`
	Base              side               `json:"base"`
	Links             links              `json:"_links"`
	Association       string             `json:"author_association"`
	AutoMerge         *autoJSON          `json:"auto_merge"`
	LockReason        *string            `json:"active_lock_reason"`
	*fullPayload
}

// side is the head or the base.
type side struct {
	Label string          `json:"label"`
	Ref   string          `json:"ref"`
	SHA   git.SHA         `json:"sha"`
	User  *account.Simple `json:"user"`
	Repo  *repo.Payload   `json:"repo"`
}

// links are the eight link relations of the interface.
type links struct {
	Self           issuekit.Link `json:"self"`
	HTML           issuekit.Link `json:"html"`
	Issue          issuekit.Link `json:"issue"`
	Comments       issuekit.Link `json:"comments"`
	ReviewComments issuekit.Link `json:"review_comments"`
	ReviewComment  issuekit.Link `json:"review_comment"`
	Commits        issuekit.Link `json:"commits"`
	Statuses       issuekit.Link `json:"statuses"`
}

// fullPayload holds the members that only a single pull request has.
type fullPayload struct {
	Merged         bool            `json:"merged"`
	Mergeable      *bool           `json:"mergeable"`
	Rebaseable     *bool           `json:"rebaseable"`
	MergeableState string          `json:"mergeable_state"`
	MergedBy       *account.Simple `json:"merged_by"`
	Comments       int64           `json:"comments"`
	ReviewComments int64           `json:"review_comments"`
	Modifiable     bool            `json:"maintainer_can_modify"`
	Commits        int64           `json:"commits"`
	Additions      int64           `json:"additions"`
	Deletions      int64           `json:"deletions"`
	Files          int64           `json:"changed_files"`
}

// payload returns the payload of a pull request of the page. It returns an error if the body cannot be
// rendered.
func (p *page) payload(i *issue.Issue) (*Payload, error) {
	pull, n := p.pulls[i.ID], strconv.FormatInt(i.Number, 10)
	base, at := p.bases[i.RepoID], p.at[i.RepoID]
	api, html, of := at.API+"/pulls/"+n, at.Page+"/pull/"+n, at.API+"/issues/"+n
	body, err := p.Body(i)
	out := &Payload{
		URL: api, ID: i.ID, NodeID: account.NodeID("PullRequest", i.ID), HTMLURL: html,
		DiffURL:  html + ".diff",
		PatchURL: html + ".patch", IssueURL: of, Number: i.Number, State: i.State.String(), Locked: i.Locked,
		Title: i.Title, User: p.User(i.AuthorID), Payload: body,
		CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, ClosedAt: i.ClosedAt, MergedAt: i.MergedAt,
		MergeCommit: web.OrNil(pull.MergeCommit()), Reviewers: p.users(p.asked[i.ID]),
		Teams:  teamsOf(plain(p.teams[i.ID]), p.info),
		Labels: p.Labels(i), Milestone: p.Milestone(i), Draft: i.Draft,
		CommitsURL: api + "/commits", ReviewCommentsURL: api + "/comments",
		ReviewCommentURL: at.API + "/pulls/comments{/number}", CommentsURL: of + "/comments",
		StatusesURL: at.API + "/statuses/" + string(pull.HeadSHA),
		Head:        p.side(pull.HeadOwnerID, pull.HeadRepoID, pull.HeadRef, pull.HeadSHA),
		Base:        p.side(base.OwnerID, base.ID, pull.BaseRef, pull.BaseSHA),
		Association: p.Association(i.RepoID, i.AuthorID), LockReason: i.LockReason,
		AutoMerge: p.autoPayload(i.ID),
	}
	if len(i.Assignees) > 0 {
		out.Assignee = p.User(i.Assignees[0])
	}
	if p.info.Media.Preview(web.Assignees) {
		out.Assignees = p.users(i.Assignees)
	}
	out.Links = links{
		Self: issuekit.Link{Href: api}, HTML: issuekit.Link{Href: html}, Issue: issuekit.Link{Href: of},
		Comments:       issuekit.Link{Href: out.CommentsURL},
		ReviewComments: issuekit.Link{Href: out.ReviewCommentsURL},
		ReviewComment:  issuekit.Link{Href: out.ReviewCommentURL}, Commits: issuekit.Link{Href: out.CommitsURL},
		Statuses: issuekit.Link{Href: out.StatusesURL},
	}
	if p.full {
		out.fullPayload = p.fullOf(i, pull)
	}
	return out, err
}

// write renders the page as an array.
func (p *page) write(out *web.Output) error {
	return out.List(len(p.Issues()), func(n int) (any, error) { return p.payload(p.Issues()[n]) })
}

// users returns the simple forms of accounts.
func (p *page) users(ids []account.ID) []*account.Simple {
	list := make([]*account.Simple, len(ids))
	for n, id := range ids {
		list[n] = p.User(id)
	}
	return list
}

// MergeCommit is the commit on the base branch once it is merged, else that of the last test merge (decisions
// 35, 36); empty: there is none.
func (p *Pull) MergeCommit() git.SHA {
	if p.Merged() {
		return p.MergeSHA
	}
	return p.TestSHA
}

// side returns the head or the base.
func (p *page) side(ownerID account.ID, repoID repo.ID, ref string, sha git.SHA) side {
	out := side{Label: ":" + ref, Ref: ref, SHA: sha, User: p.User(ownerID), Repo: p.repos[repoID]}
	if out.User != nil {
		out.Label = out.User.Login + out.Label
	}
	return out
}

// mergeState returns mergeable_state. A mergeable pull request is blocked if rules ask for more, behind if they
// only ask for the commits of the base, and unstable if a status of its head failed (decision 36) and, as at
// GitHub, if a check failed or is not completed.
func (p *page) mergeState(i *issue.Issue, pull *Pull) string {
	ok, checks, rules := pull.Mergeable(), p.checks[p.headOf(pull)], p.outlooks[int64(pull.IssueID)]
	switch {
	case i.Draft:
		return "draft"
	case ok == nil:
		return "unknown"
	case !*ok:
		return "dirty"
	case rules != nil && len(rules.Missing) > 0:
		return "blocked"
	case rules != nil && rules.Open(): // in a transaction, where Git is not asked
		return "unknown"
	case p.behind[pull.IssueID]:
		return "behind"
	case p.statuses[p.headOf(pull)].Failed > 0, checks.Failing > 0, checks.Waiting > 0:
		return "unstable"
	}
	return "clean"
}

// fullOf returns the members that only a single pull request has.
func (p *page) fullOf(i *issue.Issue, pull *Pull) *fullPayload {
	ok := pull.Mergeable()
	return &fullPayload{
		Merged: pull.Merged(), Mergeable: ok, Rebaseable: ok, MergeableState: p.mergeState(i, pull),
		MergedBy: p.User(pull.MergedBy),
		Comments: i.Comments, ReviewComments: pull.ReviewComments, Modifiable: pull.Modifiable,
		Commits: pull.Commits, Additions: pull.Additions, Deletions: pull.Deletions, Files: pull.Files,
	}
}

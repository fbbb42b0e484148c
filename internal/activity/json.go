package activity

import (
	"context"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/pull"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/review"
	"arbor/internal/web"
)

// feed is a page of a feed and all that its payloads show, read with a fixed
// number of queries.
type feed struct {
	subjects
	info     *web.Info
	list     []*Activity
	pulls    map[issue.ID]*pull.Pull // by id of the issue
	page     *issue.Page
	comments *comment.Page
	reviews  *review.Feed
	releases *release.Page
	remarks  *commitcomment.Page
}

// load reads everything that the activities refer to.
func load(ctx context.Context, tx *db.Tx, caller *account.Caller, list []*Activity) (*feed, error) {
	f := &feed{info: web.From(ctx), list: list}
	of := map[Kind][]int64{}
	for _, a := range list {
		of[a.Kind] = append(of[a.Kind], a.SubjectID)
	}
	accesses, err := f.loadSubjects(tx, caller, list)
	if err != nil {
		return nil, err
	}
	f.page = issue.NewPage(ctx, accesses...)
	for _, i := range f.issues {
		f.page.Add(i)
	}
	if err := f.page.Load(tx); err != nil {
		return nil, err
	}
	f.comments = comment.NewPage(ctx, accesses...)
	if err := f.comments.Load(tx, of[Commented]); err != nil {
		return nil, err
	}
	numbers := map[issue.ID]int64{}
	for id, i := range f.issues {
		numbers[id] = i.Number
	}
	f.reviews, err = review.LoadFeed(ctx, tx, accesses, numbers, of[Reviewed], of[ReviewCommented])
	if err != nil {
		return nil, err
	}
	if f.releases, err = release.Load(ctx, tx, accesses, of[Released]); err != nil {
		return nil, err
	}
	f.remarks, err = commitcomment.Load(ctx, tx, accesses, of[CommitCommented])
	return f, err
}

// loadSubjects reads accounts, repositories, issues and pull requests; also the repositories of heads.
func (f *feed) loadSubjects(tx *db.Tx, caller *account.Caller, list []*Activity) ([]*repo.Access, error) {
	err := f.subjects.load(tx, list)
	if err != nil {
		return nil, err
	}
	var pulls []issue.ID
	for _, i := range f.issues {
		if i.Pull {
			pulls = append(pulls, i.ID)
		}
	}
	repos := reposOf(list)
	if f.pulls, err = pull.ByIDs(tx, pulls); err != nil {
		return nil, err
	}
	for _, p := range f.pulls {
		if p.HeadRepoID != 0 {
			repos = append(repos, p.HeadRepoID)
		}
	}
	return f.loadRepos(tx, caller, repos)
}

// event is GitHub's event.
type event struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Actor     *actor    `json:"actor"`
	Repo      shortRepo `json:"repo"`
	Payload   any       `json:"payload"`
	Public    bool      `json:"public"`
	CreatedAt db.Time   `json:"created_at"`
	Org       *actor    `json:"org,omitempty"`
}

// actor is an account in an event.
type actor struct {
	ID           account.ID `json:"id"`
	Login        string     `json:"login"`
	DisplayLogin string     `json:"display_login,omitempty"`
	GravatarID   string     `json:"gravatar_id"`
	URL          string     `json:"url"`
	AvatarURL    string     `json:"avatar_url"`
}

// shortRepo is a repository in an event. The name includes the owner, except in pull requests.
type shortRepo struct {
	ID   repo.ID `json:"id"`
	Name string  `json:"name"`
	URL  string  `json:"url"`
}

// render renders the page outside a transaction, one event after another.
func (f *feed) render(out *web.Output, issues *issue.Service) error {
	if err := f.bodies(out, issues); err != nil {
		return err
	}
	return out.List(len(f.list), func(n int) (any, error) { return f.event(f.list[n]) })
}

// bodies renders the texts.
func (f *feed) bodies(out *web.Output, issues *issue.Service) error {
	err := f.page.Bodies(out, issues)
	if err == nil {
		err = f.comments.Bodies(out, issues)
	}
	if err == nil {
		err = f.reviews.Bodies(out, issues)
	}
	if err == nil {
		err = f.releases.Bodies(out, issues)
	}
	if err == nil {
		err = f.remarks.Bodies(out, issues)
	}
	return err
}

func (f *feed) event(a *Activity) (*event, error) {
	e := &event{ID: strconv.FormatInt(a.ID, 10), Actor: f.actor(a.ActorID), Public: a.Public,
		CreatedAt: a.CreatedAt}
	at := f.repos[a.RepoID]
	e.Repo = shortRepo{at.ID, at.FullName(), f.address(at)}
	if e.Actor != nil {
		e.Actor.DisplayLogin = e.Actor.Login
	}
	if a.OrgID != 0 {
		e.Org = f.actor(a.OrgID)
	}
	said, err := f.said(a)
	if err != nil {
		return nil, err
	}
	e.Type, e.Payload = f.payload(a, said)
	return e, nil
}

// said returns the payload of the comment, review or release of an activity, or nil.
func (f *feed) said(a *Activity) (any, error) {
	switch a.Kind {
	case Commented:
		return f.comments.Comment(a.SubjectID)
	case Reviewed:
		return f.reviews.Review(a.SubjectID)
	case ReviewCommented:
		return f.reviews.Comment(a.SubjectID)
	case Released:
		return f.releases.Release(a.SubjectID)
	case CommitCommented:
		return f.remarks.Comment(a.SubjectID)
	}
	return nil, nil
}

func (f *feed) actor(id account.ID) *actor {
	a := f.people[id]
	if a == nil {
		return nil
	}
	s := account.NewSimple(a, f.info)
	out := &actor{ID: s.ID, Login: s.Login, URL: s.URL, AvatarURL: s.AvatarURL}
	if a.Kind == account.Organization {
		out.URL = f.info.API(web.Path("orgs", a.Login))
	}
	return out
}

func (f *feed) address(a *repo.Access) string {
	return f.info.API(web.Path("repos", a.Owner.Login, a.Name))
}

// object is the payload of an event.
type object map[string]any

// payload returns the type and payload of an event. said is the payload of its comment, review or release.
func (f *feed) payload(a *Activity, said any) (string, object) {
	at := f.repos[a.RepoID]
	switch a.Kind {
	case Pushed:
		return "PushEvent", object{"repository_id": a.RepoID, "push_id": a.ID, "ref": a.Ref, "head": a.After,
			"before": a.Before}
	case Created:
		p := refOf(a)
		p["master_branch"], p["description"] = at.DefaultBranch, at.Description
		return "CreateEvent", p
	case Deleted:
		return "DeleteEvent", refOf(a)
	case Forked:
		return "ForkEvent", object{"action": "forked", "forkee": repo.NewPayload(f.repos[a.fork()], f.info)}
	case Published:
		return "PublicEvent", object{}
	case Joined:
		return "MemberEvent", object{"action": "added",
			"member": account.NewSimple(f.people[a.member()], f.info)}
	}
	switch a.Kind {
	case Released:
		return "ReleaseEvent", object{"action": "published", "release": said}
	case CommitCommented:
		return "CommitCommentEvent", object{"action": "created", "comment": said}
	}
	i := f.issues[a.IssueID]
	if a.Kind == Commented {
		return "IssueCommentEvent", object{"action": "created", "issue": f.page.Issue(i), "comment": said}
	}
	if !i.Pull {
		return "IssuesEvent", object{"action": a.action(i), "issue": f.page.Issue(i)}
	}
	p := object{"pull_request": f.pull(at, i), "action": "created"}
	switch a.Kind {
	case Reviewed:
		p["review"] = said
		return "PullRequestReviewEvent", p
	case ReviewCommented:
		p["comment"] = said
		return "PullRequestReviewCommentEvent", p
	}
	p["action"], p["number"] = a.action(i), i.Number
	return "PullRequestEvent", p
}

// action returns the action on an issue or pull request.
func (a *Activity) action(i *issue.Issue) string {
	switch {
	case a.Kind == Opened:
		return "opened"
	case a.Kind == Reopened:
		return "reopened"
	case i.Pull && i.MergedAt == a.CreatedAt:
		return "merged"
	default:
		return "closed"
	}
}

// refOf returns the created or deleted branch, tag or repository.
func refOf(a *Activity) object {
	p := object{"ref": nil, "ref_type": "repository", "full_ref": nil, "pusher_type": "user"}
	if a.Ref == "" {
		return p
	}
	p["full_ref"] = a.Ref
	if name, ok := strings.CutPrefix(a.Ref, "refs/heads/"); ok {
		p["ref"], p["ref_type"] = name, "branch"
	} else {
		p["ref"], p["ref_type"] = strings.TrimPrefix(a.Ref, "refs/tags/"), "tag"
	}
	return p
}

// pull returns GitHub's pull-request-minimal, or the short form.
func (f *feed) pull(at *repo.Access, i *issue.Issue) any {
	p := f.pulls[i.ID]
	side := func(a *repo.Access, ref, sha string) object {
		o := object{"ref": ref, "sha": sha, "repo": nil}
		if a != nil {
			o["repo"] = shortRepo{a.ID, a.Name, f.address(a)}
		}
		return o
	}
	return object{"id": i.ID, "number": i.Number,
		"url":  f.address(at) + "/pulls/" + strconv.FormatInt(i.Number, 10),
		"head": side(f.repos[p.HeadRepoID], p.HeadRef, string(p.HeadSHA)),
		"base": side(at, p.BaseRef, string(p.BaseSHA))}
}

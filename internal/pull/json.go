package pull

import (
	"context"
	"errors"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/repo"
	"arbor/internal/status"
	"arbor/internal/web"
)

// page is a page of pull requests of one repository and all that they show.
type page struct {
	*issue.Page
	info   *web.Info
	base   *repo.Access
	heads  map[int64]*repo.Access // repositories of heads that the caller may see
	pulls  map[int64]*Pull        // by id of the issue
	asked  map[int64][]int64      // who is asked for a review, by id of the issue
	api    string                 // the address of the base repository in the API
	html   string                 // and of its page
	full   bool
	logins map[int64]string           // of the heads' owners
	checks map[git.SHA]status.Summary // of the heads, in the full form
}

func newPage(ctx context.Context, a *repo.Access) *page {
	info := web.From(ctx)
	return &page{Page: issue.NewPage(ctx, a), info: info, base: a, heads: map[int64]*repo.Access{a.ID: a},
		api: info.API(web.Path("repos", a.Owner.Login, a.Name)), html: info.Page(web.Path(a.Owner.Login, a.Name)), logins: map[int64]string{}}
}

// load reads what the pull requests of the issues on the page refer to.
func (p *page) load(tx *db.Tx) error {
	ids := make([]int64, 0, len(p.Issues()))
	for _, i := range p.Issues() {
		ids = append(ids, i.ID)
	}
	var err error
	if p.pulls, err = byIDs(tx, ids); err != nil {
		return err
	}
	if p.asked, err = requestedOf(tx, ids); err != nil {
		return err
	}
	people, heads, tips := []int64{p.base.OwnerID}, []int64{}, []git.SHA{}
	for _, pull := range p.pulls {
		tips = append(tips, pull.HeadSHA)
		people = append(people, pull.HeadOwnerID, pull.MergedBy)
		if pull.HeadRepoID != 0 && pull.HeadRepoID != p.base.ID {
			heads = append(heads, pull.HeadRepoID)
		}
	}
	forks, err := repo.Accesses(tx, p.base.Caller, db.Unique(heads))
	if err != nil {
		return err
	}
	for _, a := range forks {
		if a.Role >= account.Pull { // a fork is as visible as what it was forked from, but for an instant
			p.heads[a.ID] = a
			p.Know(a)
		}
	}
	if p.full {
		if p.checks, err = status.Combined(tx, p.base.ID, tips...); err != nil {
			return err
		}
	}
	owners, err := account.ByIDs(tx, people)
	if err != nil {
		return err
	}
	for id, o := range owners {
		p.logins[id] = o.Login
	}
	return p.Load(tx, append(people, p.reviewers()...)...)
}

// appendPull renders a pull request as GitHub's v3 does (decision 28).
func (p *page) appendPull(b []byte, i *issue.Issue) []byte {
	pull := p.pulls[i.ID]
	n := strconv.FormatInt(i.Number, 10)
	api, html, of := p.api+"/pulls/"+n, p.html+"/pull/"+n, p.api+"/issues/"+n
	str := func(name, value string) { b = web.AppendString(append(b, name...), value) }
	raw := func(name string, value []byte) { b = append(append(b, name...), value...) }
	num := func(name string, value int64) { b = strconv.AppendInt(append(b, name...), value, 10) }
	str(`{"url":`, api)
	num(`,"id":`, i.ID)
	str(`,"node_id":`, account.NodeID("PullRequest", i.ID))
	str(`,"html_url":`, html)
	str(`,"diff_url":`, html+".diff")
	str(`,"patch_url":`, html+".patch")
	str(`,"issue_url":`, of)
	num(`,"number":`, i.Number)
	str(`,"state":`, i.State.String())
	b = strconv.AppendBool(append(b, `,"locked":`...), i.Locked)
	str(`,"title":`, i.Title)
	raw(`,"user":`, p.User(i.AuthorID))
	b = p.AppendBody(b, i)
	b = i.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
	b = i.UpdatedAt.AppendJSON(append(b, `,"updated_at":`...))
	b = i.ClosedAt.AppendJSON(append(b, `,"closed_at":`...))
	b = i.MergedAt.AppendJSON(append(b, `,"merged_at":`...))
	b = appendSHA(append(b, `,"merge_commit_sha":`...), pull.mergeCommit())
	b = p.AppendAssignees(b, i)
	b = p.appendRequested(append(b, `,"requested_reviewers":`...), i.ID)
	raw(`,"requested_teams":`, []byte(`[]`))
	b = p.AppendLabels(b, i)
	raw(`,"milestone":`, p.Milestone(i))
	b = strconv.AppendBool(append(b, `,"draft":`...), i.Draft)
	str(`,"commits_url":`, api+"/commits")
	str(`,"review_comments_url":`, api+"/comments")
	str(`,"review_comment_url":`, p.api+"/pulls/comments{/number}")
	str(`,"comments_url":`, of+"/comments")
	str(`,"statuses_url":`, p.api+"/statuses/"+string(pull.HeadSHA))
	b = p.appendSide(append(b, `,"head":`...), pull.HeadOwnerID, pull.HeadRepoID, pull.HeadRef, string(pull.HeadSHA))
	b = p.appendSide(append(b, `,"base":`...), p.base.OwnerID, p.base.ID, pull.BaseRef, string(pull.BaseSHA))
	b = p.appendLinks(b, api, html, of, pull)
	str(`,"author_association":`, p.Association(i.RepoID, i.AuthorID))
	raw(`,"auto_merge":null,"active_lock_reason":`, optional(i.LockReason))
	if p.full {
		b = p.appendFull(b, i, pull)
	}
	return append(b, '}')
}

// write renders the pull requests of the page as an array.
func (p *page) write(out *web.Output) error {
	out.Buf = append(out.Buf, '[')
	for n, i := range p.Issues() {
		if n > 0 {
			out.Buf = append(out.Buf, ',')
		}
		out.Buf = p.appendPull(out.Buf, i)
		if err := errors.Join(p.Err(), out.Next()); err != nil {
			return err
		}
	}
	out.Buf = append(out.Buf, ']')
	return nil
}

// mergeCommit is the commit on the base branch once it is merged, else that of
// the last test merge (decisions 35, 36).
func (p *Pull) mergeCommit() string {
	if p.Merged() {
		return string(p.MergeSHA)
	}
	return string(p.TestSHA)
}

func appendSHA(b []byte, sha string) []byte {
	if sha == "" {
		return append(b, "null"...)
	}
	return web.AppendString(b, sha)
}

func optional(s *string) []byte {
	if s == nil {
		return []byte("null")
	}
	return web.AppendString(nil, *s)
}

// appendSide renders head or base.
func (p *page) appendSide(b []byte, ownerID, repoID int64, ref, sha string) []byte {
	b = web.AppendString(append(b, `{"label":`...), p.logins[ownerID]+":"+ref)
	b = web.AppendString(append(b, `,"ref":`...), ref)
	b = web.AppendString(append(b, `,"sha":`...), sha)
	b = append(append(b, `,"user":`...), p.User(ownerID)...)
	b = append(b, `,"repo":`...)
	if p.heads[repoID] == nil {
		b = append(b, "null"...)
	} else {
		b = append(b, p.Repository(repoID)...)
	}
	return append(b, '}')
}

// appendLinks renders the eight link relations of the interface.
func (p *page) appendLinks(b []byte, api, html, of string, pull *Pull) []byte {
	b = append(b, `,"_links":{`...)
	for n, l := range [...]struct{ rel, to string }{
		{"self", api}, {"html", html}, {"issue", of}, {"comments", of + "/comments"}, {"review_comments", api + "/comments"},
		{"review_comment", p.api + "/pulls/comments{/number}"}, {"commits", api + "/commits"},
		{"statuses", p.api + "/statuses/" + string(pull.HeadSHA)},
	} {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), l.rel...), `":{"href":`...)
		b = append(web.AppendString(b, l.to), '}')
	}
	return append(b, '}')
}

// appendFull appends what only the form of a single pull request has. What
// merges is unstable when a status of its head failed (decision 36).
func (p *page) appendFull(b []byte, i *issue.Issue, pull *Pull) []byte {
	b = strconv.AppendBool(append(b, `,"merged":`...), pull.Merged())
	state := "unknown"
	b = append(b, `,"mergeable":`...)
	switch ok := pull.Mergeable(); {
	case ok == nil:
		b = append(b, `null,"rebaseable":null`...)
	default:
		b = strconv.AppendBool(b, *ok)
		b = strconv.AppendBool(append(b, `,"rebaseable":`...), *ok)
		switch {
		case !*ok:
			state = "dirty"
		case p.checks[pull.HeadSHA].Failed > 0:
			state = "unstable"
		default:
			state = "clean"
		}
	}
	b = web.AppendString(append(b, `,"mergeable_state":`...), state)
	b = append(append(b, `,"merged_by":`...), p.User(pull.MergedBy)...)
	num := func(name string, value int64) { b = strconv.AppendInt(append(b, name...), value, 10) }
	num(`,"comments":`, i.Comments)
	num(`,"review_comments":`, pull.ReviewComments)
	b = strconv.AppendBool(append(b, `,"maintainer_can_modify":`...), pull.Modifiable)
	num(`,"commits":`, pull.Commits)
	num(`,"additions":`, pull.Additions)
	num(`,"deletions":`, pull.Deletions)
	num(`,"changed_files":`, pull.Files)
	return b
}

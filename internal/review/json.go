package review

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/issuekit"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// page holds what the payloads of several reviews or comments need.
type page struct {
	*issue.Page
	info    *web.Info
	in      map[repo.ID]*repo.Access
	at      map[repo.ID]*issuekit.Addresses
	rollups map[int64]reaction.Rollup
	bodies  *text.Page
}

// newPage returns an empty page for repositories, whose accesses have the same caller.
func newPage(ctx context.Context, in ...*repo.Access) *page {
	info := web.From(ctx)
	p := &page{Page: issue.NewPage(ctx, in...), info: info, in: map[repo.ID]*repo.Access{},
		at: map[repo.ID]*issuekit.Addresses{}}
	for _, a := range in {
		p.in[a.ID], p.at[a.ID] = a, issuekit.NewAddresses(info, a.Repo)
	}
	return p
}

// pageOf returns an empty page for the repositories of things.
func pageOf[K comparable](ctx context.Context, list []repo.Of[K]) *page {
	return newPage(ctx, slices.Collect(maps.Values(repo.In(list)))...)
}

// caller returns the account id of the caller, or 0.
func (p *page) caller() account.ID {
	for _, a := range p.in {
		return account.IDOf(a.Caller)
	}
	return 0
}

// load reads the authors and their associations.
func (p *page) load(tx *db.Tx, authors []account.ID) error {
	if err := p.Load(tx, authors...); err != nil {
		return err
	}
	return p.Associate(tx, authors)
}

// Payload is GitHub's pull-request-review (decision 28).
type Payload struct {
	Hidden issuekit.Hidden `json:"-"`
	ID     int64           `json:"id"`
	NodeID string          `json:"node_id"`
	User   *account.Simple `json:"user"`
	text.Payload
	State       string               `json:"state"`
	HTMLURL     string               `json:"html_url"`
	PullURL     string               `json:"pull_request_url"`
	Association string               `json:"author_association"`
	Links       issuekit.ReviewLinks `json:"_links"`
	SubmittedAt db.Time              `json:"submitted_at,omitzero"`
	Commit      git.SHA              `json:"commit_id"`
}

// review returns the payload of the n-th review of the page; state is the name of its state. It returns an
// error if the body cannot be rendered.
func (p *page) review(n int, v *Review, pull int64, state string) (*Payload, error) {
	at := p.at[v.RepoID]
	html := at.Page + "/pull/" + strconv.FormatInt(pull, 10) + "#pullrequestreview-" + strconv.FormatInt(v.ID, 10)
	of := at.API + "/pulls/" + strconv.FormatInt(pull, 10)
	body, err := p.bodies.At(n)
	return &Payload{
		Hidden: v.Hidden, ID: v.ID, NodeID: account.NodeID(Resource, v.ID), User: p.User(v.AuthorID), Payload: body,
		State:   state,
		HTMLURL: html, PullURL: of, Association: p.Association(v.RepoID, v.AuthorID),
		Links:       issuekit.ReviewLinks{HTML: issuekit.Link{Href: html}, Pull: issuekit.Link{Href: of}},
		SubmittedAt: v.SubmittedAt, Commit: v.Commit,
	}, err
}

// commentPayload is GitHub's pull-request-review-comment (decision 28).
type commentPayload struct {
	Number         int64           `json:"-"` // of the pull request
	Hidden         issuekit.Hidden `json:"-"`
	URL            string          `json:"url"`
	ReviewID       *int64          `json:"pull_request_review_id"`
	ID             int64           `json:"id"`
	NodeID         string          `json:"node_id"`
	Hunk           string          `json:"diff_hunk"`
	Path           string          `json:"path"`
	Commit         git.SHA         `json:"commit_id"`
	OriginalCommit git.SHA         `json:"original_commit_id"`
	ReplyTo        int64           `json:"in_reply_to_id,omitzero"`
	User           *account.Simple `json:"user"`
	text.Payload
	CreatedAt         db.Time          `json:"created_at"`
	UpdatedAt         db.Time          `json:"updated_at"`
	HTMLURL           string           `json:"html_url"`
	PullURL           string           `json:"pull_request_url"`
	Links             commentLinks     `json:"_links"`
	Association       string           `json:"author_association"`
	Reactions         *reaction.Object `json:"reactions,omitzero"`
	StartLine         *int64           `json:"start_line"`
	OriginalStartLine *int64           `json:"original_start_line"`
	StartSide         *string          `json:"start_side"`
	Line              *int64           `json:"line"`
	OriginalLine      *int64           `json:"original_line"`
	Side              string           `json:"side"`
	OriginalPosition  *int64           `json:"original_position"`
	Position          *int64           `json:"position"`
	Subject           string           `json:"subject_type"`
}

type commentLinks struct {
	Self issuekit.Link `json:"self"`
	HTML issuekit.Link `json:"html"`
	Pull issuekit.Link `json:"pull_request"`
}

// comment returns the payload of the n-th comment of the page. An outdated comment has the commit that it
// was made on. It returns an error if the body cannot be rendered.
func (p *page) comment(n int, c *Comment) (*commentPayload, error) {
	at := p.at[c.RepoID]
	self := at.API + "/pulls/comments/" + strconv.FormatInt(c.ID, 10)
	of := at.API + "/pulls/" + strconv.FormatInt(c.Number, 10)
	html := at.Page + "/pull/" + strconv.FormatInt(c.Number, 10) + "#discussion_r" + strconv.FormatInt(c.ID, 10)
	body, err := p.bodies.At(n)
	out := &commentPayload{
		Hidden: c.Hidden, Number: c.Number,
		URL: self, ReviewID: web.OrNil(c.ReviewID), ID: c.ID, NodeID: account.NodeID(CommentResource, c.ID),
		Hunk: c.Hunk, Path: c.Path, Commit: c.ShownCommit(), OriginalCommit: c.Commit, ReplyTo: c.ReplyTo,
		User: p.User(c.AuthorID), Payload: body, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		HTMLURL: html, PullURL: of, Association: p.Association(c.RepoID, c.AuthorID),
		Links:     commentLinks{issuekit.Link{Href: self}, issuekit.Link{Href: html}, issuekit.Link{Href: of}},
		StartLine: web.OrNil(c.Now.Start), OriginalStartLine: web.OrNil(c.Spot.Start),
		Line: web.OrNil(c.Now.Line), OriginalLine: web.OrNil(c.Spot.Line), Side: c.Side.String(),
		OriginalPosition: web.OrNil(c.Spot.Position), Position: web.OrNil(c.Now.Position), Subject: "line",
	}
	if p.info.Media.Preview(web.Reactions) {
		out.Reactions = &reaction.Object{URL: self + "/reactions", Rollup: p.rollups[c.ID]}
	}
	if c.StartSide != 0 {
		out.StartSide = new(c.StartSide.String())
	}
	if c.Whole {
		out.Subject = "file"
	}
	return out, err
}

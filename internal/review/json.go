package review

import (
	"context"
	"strconv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// page is what the payloads of a page of reviews or comments need.
type page struct {
	*issue.Page
	info    *web.Info
	a       *repo.Access
	api     string // the address of the repository in the API
	html    string // and of its page
	rollups map[int64]reaction.Rollup
	bodies  *issue.Bodies
}

func newPage(ctx context.Context, a *repo.Access) *page {
	info := web.From(ctx)
	return &page{Page: issue.NewPage(ctx, a), info: info, a: a,
		api: info.API(web.Path("repos", a.Owner.Login, a.Name)), html: info.Page(web.Path(a.Owner.Login, a.Name))}
}

// load reads who wrote what is on the page.
func (p *page) load(tx *db.Tx, authors []int64) error {
	if err := p.Load(tx, authors...); err != nil {
		return err
	}
	return p.Associate(tx, authors)
}

// prepare prepares texts in the representation that the request asks for.
func (p *page) prepare(out *web.Output, s *issue.Service, texts []string) (err error) {
	list := make([]issue.Source, len(texts))
	for n := range texts {
		list[n] = issue.Source{Access: p.a, Body: &texts[n]}
	}
	p.bodies, err = s.Bodies(out, list)
	return err
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// appendReview renders the n-th review of the page as GitHub's v3 does
// (decision 28).
func (p *page) appendReview(b []byte, n int, v *Review, pull int64) []byte {
	return p.appendReviewAs(b, n, v, pull, v.State.String())
}

// appendReviewAs is appendReview with another name of its state.
func (p *page) appendReviewAs(b []byte, n int, v *Review, pull int64, state string) []byte {
	str := func(name, value string) { b = web.AppendString(append(b, name...), value) }
	html := p.html + "/pull/" + itoa(pull) + "#pullrequestreview-" + itoa(v.ID)
	of := p.api + "/pulls/" + itoa(pull)
	b = strconv.AppendInt(append(b, `{"id":`...), v.ID, 10)
	str(`,"node_id":`, account.NodeID(Resource, v.ID))
	b = append(append(b, `,"user":`...), p.User(v.AuthorID)...)
	b = p.bodies.At(n).AppendJSON(b)
	str(`,"state":`, state)
	str(`,"html_url":`, html)
	str(`,"pull_request_url":`, of)
	str(`,"author_association":`, p.Association(v.RepoID, v.AuthorID))
	str(`,"_links":{"html":{"href":`, html)
	str(`},"pull_request":{"href":`, of)
	b = append(b, `}}`...)
	if v.State != Pending {
		b = v.SubmittedAt.AppendJSON(append(b, `,"submitted_at":`...))
	}
	str(`,"commit_id":`, string(v.Commit))
	return append(b, '}')
}

// appendComment renders the n-th comment of the page as GitHub's v3 does
// (decision 28). What is outdated stands at the commit that it was made of.
func (p *page) appendComment(b []byte, n int, c *Comment) []byte {
	str := func(name, value string) { b = web.AppendString(append(b, name...), value) }
	num := func(name string, value int64) {
		if b = append(b, name...); value == 0 {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendInt(b, value, 10)
		}
	}
	self := p.api + "/pulls/comments/" + itoa(c.ID)
	of := p.api + "/pulls/" + itoa(c.Number)
	html := p.html + "/pull/" + itoa(c.Number) + "#discussion_r" + itoa(c.ID)
	at := c.HeadSHA
	if c.Outdated() {
		at = c.Commit
	}
	str(`{"url":`, self)
	num(`,"pull_request_review_id":`, c.ReviewID)
	num(`,"id":`, c.ID)
	str(`,"node_id":`, account.NodeID(CommentResource, c.ID))
	str(`,"diff_hunk":`, c.Hunk)
	str(`,"path":`, c.Path)
	str(`,"commit_id":`, string(at))
	str(`,"original_commit_id":`, string(c.Commit))
	if c.ReplyTo != 0 {
		num(`,"in_reply_to_id":`, c.ReplyTo)
	}
	b = append(append(b, `,"user":`...), p.User(c.AuthorID)...)
	b = p.bodies.At(n).AppendJSON(b)
	b = c.CreatedAt.AppendJSON(append(b, `,"created_at":`...))
	b = c.UpdatedAt.AppendJSON(append(b, `,"updated_at":`...))
	str(`,"html_url":`, html)
	str(`,"pull_request_url":`, of)
	str(`,"_links":{"self":{"href":`, self)
	str(`},"html":{"href":`, html)
	str(`},"pull_request":{"href":`, of)
	str(`}},"author_association":`, p.Association(c.RepoID, c.AuthorID))
	if p.info.Media.Preview(web.Reactions) {
		b = p.rollups[c.ID].AppendJSON(append(b, `,"reactions":`...), self+"/reactions")
	}
	num(`,"start_line":`, c.Now.Start)
	num(`,"original_start_line":`, c.Spot.Start)
	if b = append(b, `,"start_side":`...); c.StartSide == 0 {
		b = append(b, "null"...)
	} else {
		b = web.AppendString(b, c.StartSide.String())
	}
	num(`,"line":`, c.Now.Line)
	num(`,"original_line":`, c.Spot.Line)
	str(`,"side":`, c.Side.String())
	num(`,"original_position":`, c.Spot.Position)
	num(`,"position":`, c.Now.Position)
	subject := "line"
	if c.Whole {
		subject = "file"
	}
	str(`,"subject_type":`, subject)
	return append(b, '}')
}

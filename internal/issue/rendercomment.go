package issue

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue/text"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// commentPage is a page of comments of one repository and all that their
// payloads show, read with a fixed number of queries.
type commentPage struct {
	*page
	comments []*Comment
	rollups  map[int64]reaction.Rollup // by comment
	bodies   *text.Page                // in the order of comments
}

// load reads what the comments refer to.
func (p *commentPage) load(tx *db.Tx) (err error) {
	var authors []account.ID
	var reacted []int64
	for _, c := range p.comments {
		authors = append(authors, c.AuthorID)
		if c.Reacted {
			reacted = append(reacted, c.ID)
		}
	}
	authors = db.Unique(authors)
	if p.people, err = account.ByIDs(tx, authors); err != nil {
		return err
	}
	if p.roles, err = associations(tx, p.repos, authors); err != nil {
		return err
	}
	if p.info.Media.Preview(web.Reactions) && len(reacted) > 0 {
		p.rollups, err = reaction.Rollups(tx, reaction.IssueComment, reacted)
	}
	return err
}

// prepareComments prepares the bodies of a page of comments.
func (s *Service) prepareComments(out *web.Output, p *commentPage) (err error) {
	list := make([]text.Source, len(p.comments))
	for n, c := range p.comments {
		list[n] = text.Source{Access: p.repos[c.RepoID], Body: &c.Body}
	}
	p.bodies, err = s.Bodies(out, list)
	return err
}

// commentRendering is rendering for comments.
func (api *API) commentRendering(a *repo.Access, find func(*db.Tx) ([]*Comment, error), f form) web.Render {
	return func(out *web.Output) error {
		var p *commentPage
		err := api.s.db.Read(out.Context(), func(tx *db.Tx) (err error) {
			p = &commentPage{page: newPage(out.Context(), a)}
			if p.comments, err = find(tx); err != nil {
				return err
			}
			return p.load(tx)
		})
		if err != nil {
			return err
		}
		if err := api.s.prepareComments(out, p); err != nil {
			return err
		}
		out.Grow(2 << 10 * (len(p.comments) + 1))
		return out.Items(len(p.comments), f == single, func(n int) (any, error) { return p.payload(n) })
	}
}

// commentPayload is GitHub's issue-comment (decision 28).
type commentPayload struct {
	URL         string          `json:"url"`
	HTMLURL     string          `json:"html_url"`
	IssueURL    string          `json:"issue_url"`
	ID          int64           `json:"id"`
	NodeID      string          `json:"node_id"`
	User        *account.Simple `json:"user"`
	CreatedAt   db.Time         `json:"created_at"`
	UpdatedAt   db.Time         `json:"updated_at"`
	Association string          `json:"author_association"`
	text.Payload
	Reactions *reaction.Object `json:"reactions,omitzero"`
	App       *struct{}        `json:"performed_via_github_app"`
}

// payload makes the payload of the n-th comment of the page. Error: that of its body.
func (p *commentPage) payload(n int) (*commentPayload, error) {
	c := p.comments[n]
	at, id, number := p.places[c.RepoID], itoa(c.ID), itoa(c.Number)
	body, err := p.bodies.At(n)
	out := &commentPayload{
		URL:      at.API + "/issues/comments/" + id,
		HTMLURL:  at.Page + tracker.PageSegment(c.Pull) + number + "#issuecomment-" + id,
		IssueURL: at.API + "/issues/" + number,
		ID:       c.ID, NodeID: account.NodeID("IssueComment", c.ID), User: p.simple(c.AuthorID),
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt,
		Association: p.associationOf(c.RepoID, c.AuthorID), Payload: body,
	}
	if p.info.Media.Preview(web.Reactions) {
		out.Reactions = &reaction.Object{URL: out.URL + "/reactions", Rollup: p.rollups[c.ID]}
	}
	return out, err
}

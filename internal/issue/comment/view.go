package comment

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// View is a comment and everything that it refers to, as visible to the caller. Pages show it.
type View struct {
	*Comment
	Author      *account.Account
	Association string
	Reactions   reaction.Rollup
	HTML        string // the sanitized text
}

// NewViewPage is like NewPage, for views: call View after Load and HTML.
func NewViewPage(ctx context.Context, accesses ...*repo.Access) *Page {
	p := NewPage(ctx, accesses...)
	p.reactions = true
	return p
}

// View returns a comment of the page, or nil. It returns an error if the text cannot be rendered.
func (p *Page) View(id int64) (*View, error) {
	n, there := p.at[id]
	if !there {
		return nil, nil
	}
	c := p.comments[n]
	v := &View{Comment: c, Author: p.people.Account(c.AuthorID),
		Association: p.people.Association(c.RepoID, c.AuthorID), Reactions: p.rollups[c.ID]}
	var err error
	v.HTML, err = p.bodies.HTML(n)
	return v, err
}

// ByID reads a comment. Errors: 404, 410 (decision 16).
func (s *Service) ByID(ctx context.Context, a *repo.Access, id int64) (c *Comment, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Comment, error) { return enabledByID(tx, a, id) })
}

// NewText parses the text of a comment. Error: 422 for a blank text and for more than issue.MaxBody code
// points.
func NewText(body string) (issue.Text, error) {
	f := web.Faults{Resource: Resource}
	f.CheckFilled("body", body)
	f.CheckText("body", body, issue.MaxBody)
	return issue.NewText(body), f.Err()
}

package commitcomment

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// View is a comment with what it refers to.
type View struct {
	*Comment
	Author *account.Account
	HTML   string // its text, which package markdown sanitized
}

// List reads a page of the comments on a commit, the oldest first. The commit was found for the caller before.
func (s *Service) List(ctx context.Context, a *repo.Access, sha git.SHA, at web.Page) (*web.List[*View], error) {
	var p *Page
	var total int64
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		list, n, err := page(tx, a.ID, sha, at)
		if total = n; err == nil {
			p, err = load(ctx, tx, []*repo.Access{a}, list)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	texts := make([]text.Source, len(p.list))
	for n, c := range p.list {
		texts[n] = text.Source{Access: a, Body: &c.Body}
	}
	bodies, err := s.issues.HTML(ctx, texts)
	if err != nil {
		return nil, err
	}
	found := &web.List[*View]{More: at.Number*at.Size < total, Total: total}
	for n, c := range p.list {
		html, err := bodies.HTML(n)
		if err != nil {
			return nil, err
		}
		found.Rows = append(found.Rows, &View{c, p.people.Account(c.AuthorID), html})
	}
	return found, nil
}

// ByID finds a comment. Error: 404.
func (s *Service) ByID(ctx context.Context, a *repo.Access, id int64) (c *Comment, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Comment, error) { return byID(tx, a.ID, id) })
}

// checkText notes a text that is missing, blank or too long.
func checkText(f *web.Faults, body string) {
	f.CheckFilled("body", body)
	f.CheckText("body", body, issue.MaxBody)
}

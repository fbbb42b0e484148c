package review

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issue/text"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// CommentView is a review comment with what it refers to, as a caller sees it: the value that pages for people show.
type CommentView struct {
	*Comment
	Author      *account.Account
	Association string
	Reactions   reaction.Rollup
	HTML        string // the text, which package markdown sanitized
}

// ShownCommit is the commit that the comment stands at: the head, or while it is outdated the one that it was
// made of.
func (c *Comment) ShownCommit() git.SHA {
	if c.Outdated() {
		return c.Commit
	}
	return c.HeadSHA
}

// Comment reads a comment that the caller may see. Error: 404.
func (s *Service) Comment(ctx context.Context, a *repo.Access, id int64) (*CommentView, error) {
	c, err := s.FindComment(ctx, a, id)
	if err != nil {
		return nil, err
	}
	list, err := s.viewComments(ctx, a, []*Comment{c})
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// maxAtOnce is how many comments a page of a pull request shows.
const maxAtOnce = 1000

// Comments reads the first comments on a pull request that everybody sees, the oldest first. more reports that there
// are others.
func (s *Service) Comments(
	ctx context.Context, a *repo.Access, pull *issue.Issue,
) (list []*CommentView, more bool, err error) {
	return s.firstComments(ctx, a, (&commentList{column: "issue_id", id: pull.ID}).page)
}

// CommentsOf reads the first comments of a review that the caller may see, as Comments does. Error: 404.
func (s *Service) CommentsOf(
	ctx context.Context, a *repo.Access, pull *issue.Issue, review int64,
) (list []*CommentView, more bool, err error) {
	if _, err := s.FindReview(ctx, a, pull, review); err != nil {
		return nil, false, err
	}
	return s.firstComments(ctx, a, func(tx *db.Tx, p web.Page) ([]*Comment, int64, error) {
		return commentsOfReview(tx, review, p)
	})
}

func (s *Service) firstComments(ctx context.Context, a *repo.Access,
	read func(*db.Tx, web.Page) ([]*Comment, int64, error)) (views []*CommentView, more bool, err error) {
	var list []*Comment
	var total int64
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		list, total, err = read(tx, web.Page{Number: 1, Size: maxAtOnce})
		return err
	})
	if err != nil {
		return nil, false, err
	}
	views, err = s.viewComments(ctx, a, list)
	return views, total > maxAtOnce, err
}

// viewComments loads what comments refer to, with a fixed number of queries, and where they are now.
func (s *Service) viewComments(ctx context.Context, a *repo.Access, list []*Comment) ([]*CommentView, error) {
	p := newPage(ctx, a)
	if err := s.loadComments(ctx, p, true, list); err != nil {
		return nil, err
	}
	texts := make([]text.Source, len(list))
	for n, c := range list {
		texts[n] = text.Source{Access: a, Body: &c.Body}
	}
	bodies, err := s.issues.HTML(ctx, texts)
	if err != nil {
		return nil, err
	}
	views := make([]*CommentView, len(list))
	for n, c := range list {
		views[n] = &CommentView{Comment: c, Author: p.Account(c.AuthorID),
			Association: p.Association(c.RepoID, c.AuthorID), Reactions: p.rollups[c.ID]}
		if views[n].HTML, err = bodies.HTML(n); err != nil {
			return nil, err
		}
	}
	return views, nil
}

package issue

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/reaction"
	"arbor/internal/repo"
)

// CommentResource is the name of comments in validation errors (decision 15).
const CommentResource = "IssueComment"

// Comment is a row of the table issue_comments, with what its payload shows of
// its issue.
type Comment struct {
	ID        int64
	RepoID    repo.ID
	IssueID   ID
	AuthorID  account.ID
	Body      string
	Reacted   bool // there are or were reactions
	CreatedAt db.Time
	UpdatedAt db.Time

	Number int64 // of the issue
	Pull   bool  // the issue is a pull request
	Locked bool  // so is its conversation
}

// mayComment returns the 403 for who may not write in a locked conversation:
// add to it, or change what stands there (decision 34).
func mayComment(a *repo.Access, locked bool) error {
	if locked && a.Role < account.Push {
		return errs.New(errs.Forbidden, "The conversation is locked: must have push access to Repository.")
	}
	return nil
}

// mayEditComment returns the 403 for who may neither edit nor delete the
// comment: its author and those with push access may.
func mayEditComment(a *repo.Access, c *Comment) error {
	if a.Role < account.Push && (a.Caller == nil || a.Caller.ID != c.AuthorID) {
		return errs.New(errs.Forbidden, "Must be the author of the comment or have push access to Repository.")
	}
	return mayComment(a, c.Locked)
}

// CreateComment adds a comment of the caller's to an issue, which subscribes
// the caller and those whom it mentions. The text is not empty. Errors: 403 for
// a locked conversation, 404.
func (s *Service) CreateComment(ctx context.Context, a *repo.Access, number int64, t Text) (*Comment, error) {
	var made *Comment
	_, err := s.Change(ctx, a, number, func(c *Change) error {
		if err := mayComment(a, c.Issue.Locked); err != nil {
			return err
		}
		made = &Comment{
			RepoID: a.ID, IssueID: c.Issue.ID, AuthorID: a.Caller.ID, Body: *t.Body, CreatedAt: c.Tx.Now, UpdatedAt: c.Tx.Now,
			Number: number, Pull: c.Issue.Pull, Locked: c.Issue.Locked,
		}
		if err := insertComment(c.Tx, made); err != nil {
			return err
		}
		c.Issue.Comments++
		c.Touch()
		c.Involve(a.Caller.ID)
		return c.read(t, made.ID)
	})
	return made, err
}

// EditComment changes the text of a comment, which is not empty. That the issue
// changed with it, its updated_at says (decision 31). Errors: 403, 404.
func (s *Service) EditComment(ctx context.Context, a *repo.Access, found *Comment, t Text) (*Comment, error) {
	return s.changeComment(ctx, a, found, func(c *Change, now *Comment) error {
		if now.Body == *t.Body {
			return nil
		}
		now.Body, now.UpdatedAt = *t.Body, max(now.UpdatedAt, c.Tx.Now)
		c.Touch()
		if err := updateComment(c.Tx, now); err != nil {
			return err
		}
		return c.read(t, now.ID)
	})
}

// DeleteComment deletes a comment with its reactions. Whom it mentioned or
// subscribed stays so. Errors: 403, 404.
func (s *Service) DeleteComment(ctx context.Context, a *repo.Access, found *Comment) error {
	_, err := s.changeComment(ctx, a, found, func(c *Change, now *Comment) error {
		if err := deleteComment(c.Tx, now); err != nil {
			return err
		}
		c.Issue.Comments--
		c.Touch()
		c.Event(EventCommentDeleted, Event{})
		return reaction.Drop(c.Tx, reaction.IssueComment, now.ID)
	})
	return err
}

// changeComment runs fn on a comment as it is once its repository is locked,
// for those who may change it.
func (s *Service) changeComment(ctx context.Context, a *repo.Access, found *Comment, fn func(*Change, *Comment) error) (*Comment, error) {
	var changed *Comment
	_, err := s.Change(ctx, a, found.Number, func(c *Change) (err error) {
		if changed, err = commentByID(c.Tx, a.ID, found.ID); err != nil {
			return err
		}
		if err := mayEditComment(a, changed); err != nil {
			return err
		}
		return fn(c, changed)
	})
	return changed, err
}

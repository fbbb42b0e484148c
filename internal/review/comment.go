package review

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/issue/revision"
	"arbor/internal/pull"
	"arbor/internal/reaction"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// NewComment is a comment to be created.
type NewComment struct {
	Text    issue.Text // must not be empty
	Anchor  Anchor
	ReplyTo int64 // a comment of the thread to reply to; 0: a new thread at Anchor
	Pending bool  // add to the caller's pending review, which is created if needed
}

// AddComment is CreateComment for the pull request with a number. Error: also 422 if the comment to reply
// to does not exist.
func (s *Service) AddComment(ctx context.Context, a *repo.Access, number int64, n NewComment) (*Comment, error) {
	p, i, err := s.pulls.Find(ctx, a, number)
	if err != nil {
		return nil, err
	}
	return s.addTo(ctx, a, p, i, n)
}

func (s *Service) addTo(
	ctx context.Context, a *repo.Access, p *pull.Pull, i *issue.Issue, n NewComment,
) (*Comment, error) {
	made, err := s.CreateComment(ctx, a, p, i, n)
	if errs.Is(err, errs.NotFound) && n.ReplyTo != 0 {
		err = errs.Validation(errs.Field{
			Resource: CommentResource, Field: "in_reply_to", Code: errs.InvalidField, Value: n.ReplyTo,
		})
	}
	return made, err
}

// CreateComment adds a comment of the caller's to a pull request, with a review
// of its own. A reply to a comment of the caller's pending review joins that review. Errors:
// 403 for a locked conversation, 404, 422 for what is not in the diff.
func (s *Service) CreateComment(
	ctx context.Context, a *repo.Access, p *pull.Pull, i *issue.Issue, n NewComment,
) (*Comment, error) {
	if err := mayWrite(a, i.Locked); err != nil {
		return nil, err
	}
	if err := n.check(); err != nil {
		return nil, err
	}
	made := &Comment{RepoID: a.ID, IssueID: p.IssueID, AuthorID: a.Caller.ID, Body: *n.Text.Body}
	if n.ReplyTo == 0 {
		if err := s.covers(ctx, p, n.Anchor.Commit); err != nil {
			return nil, err
		}
		hunks, err := s.place(ctx, p, n.Anchor.Commit, []*Anchor{&n.Anchor})
		if err != nil {
			return nil, err
		}
		made.stand(n.Anchor, hunks[0])
	}
	var created *Comment
	_, err := s.issues.Change(ctx, a, p.Number, func(c *issue.Change) (err error) {
		if err := mayWrite(a, c.Issue.Locked); err != nil {
			return err
		}
		joins := int64(0) // pending review to add the reply to
		if n.ReplyTo != 0 {
			first, err := commentByID(c.Tx, a.ID, n.ReplyTo, a.Caller.ID)
			if err != nil || first.IssueID != p.IssueID {
				return orAbsent(err)
			}
			made.follow(first)
			if first.Pending {
				joins = first.ReviewID
			}
		}
		if n.Pending && joins == 0 {
			if joins, err = pendingReview(c.Tx, made, p.HeadSHA); err != nil {
				return err
			}
		}
		id, err := s.addComment(c, made, joins, n.Text)
		if err == nil {
			created, err = commentByID(c.Tx, a.ID, id, a.Caller.ID)
		}
		return err
	})
	return created, err
}

// pendingReview returns the pending review of the comment's author, and creates it if needed.
func pendingReview(tx *db.Tx, c *Comment, head git.SHA) (int64, error) {
	v := &Review{RepoID: c.RepoID, IssueID: c.IssueID, AuthorID: c.AuthorID, State: Pending, Commit: head}
	id, _, err := pendingOf(tx, c.IssueID, c.AuthorID)
	if err != nil || id != 0 {
		return id, err
	}
	err = insertReview(tx, v)
	return v.ID, err
}

func orAbsent(err error) error {
	if err == nil {
		err = errs.Absent()
	}
	return err
}

// stand places the comment at the anchor.
func (c *Comment) stand(at Anchor, hunk string) {
	c.Anchor, c.Hunk, c.Now, c.Current = at, hunk, at.Spot, at.Commit
}

// follow turns the comment into a reply at the position of its thread. Threads have one level, so a reply
// to a reply refers to the first comment.
func (c *Comment) follow(first *Comment) {
	c.Anchor, c.Hunk, c.Now, c.Current = first.Anchor, first.Hunk, first.Now, first.Current
	if c.ReplyTo = first.ReplyTo; c.ReplyTo == 0 {
		c.ReplyTo = first.ID
	}
}

// addComment inserts a comment, with a review of its own unless joins is a pending review.
func (s *Service) addComment(
	c *issue.Change, made *Comment, joins int64, t issue.Text,
) (id int64, err error) {
	made.CreatedAt, made.UpdatedAt = c.Tx.Now, c.Tx.Now
	if made.ReviewID, made.Pending = joins, joins != 0; made.Pending {
		err = insertComment(c.Tx, made)
		return made.ID, err
	}
	v := &Review{RepoID: made.RepoID, IssueID: made.IssueID, AuthorID: made.AuthorID, State: Commented,
		Commit: made.Commit, SubmittedAt: c.Tx.Now}
	if err := insertReview(c.Tx, v); err != nil {
		return 0, err
	}
	made.ReviewID = v.ID
	if err := insertComment(c.Tx, made); err != nil {
		return 0, err
	}
	return made.ID, announce(c, v, 1, t)
}

// EditComment changes the text of a comment. Errors: 403, 404, 422.
func (s *Service) EditComment(
	ctx context.Context, a *repo.Access, found *Comment, t issue.Text,
) (*Comment, error) {
	f := web.Faults{Resource: CommentResource}
	if checkText(&f, bodyOf(t)); f.Err() != nil {
		return nil, f.Err()
	}
	return s.changeComment(ctx, a, found, func(c *issue.Change, now *Comment) error {
		if now.Body == *t.Body {
			return nil
		}
		before := now.Body
		now.Body, now.UpdatedAt = *t.Body, max(now.UpdatedAt, c.Tx.Now)
		err := account.WrittenBy(c.Tx, c.Actor.ID, now.AuthorID, func() error { return updateComment(c.Tx, now) })
		if err != nil || now.Pending {
			return err
		}
		if err := c.NoteEdit(revision.Text{Kind: revision.OfLine, ID: now.ID}, before); err != nil {
			return err
		}
		c.Touch()
		c.AddHookEvent(hook.Event{Name: commentEvent, Action: "edited", About: hook.About{ID: now.ID,
			Changes: map[string]any{"body": hook.From(before)}}})
		return c.Read(t)
	})
}

// commentEvent is the webhook event of comments.
const commentEvent = "pull_request_review_comment"

// recordDeleted sends a webhook event for a comment that is being deleted.
func (s *Service) recordDeleted(c *issue.Change, a *repo.Access, now *Comment) error {
	info, err := hook.Listening(c.Tx, a.ID, commentEvent)
	if err != nil || info == nil || now.Pending {
		return err
	}
	ctx := web.WithInfo(context.Background(), info) // the request's may wait
	payload, err := CommentForHook(ctx, c.Tx, a, s.issues, now.ID)
	if err != nil {
		return err
	}
	parts, err := hook.Part("comment", payload)
	c.AddHookEvent(hook.Event{Name: commentEvent, Action: "deleted",
		About: hook.About{ID: now.ID, Parts: parts}})
	return err
}

// DeleteComment deletes a comment with its reactions, and its review if that has nothing else. Replies
// remain. Errors: 403, 404.
func (s *Service) DeleteComment(ctx context.Context, a *repo.Access, found *Comment) error {
	_, err := s.changeComment(ctx, a, found, func(c *issue.Change, now *Comment) error {
		if err := s.recordDeleted(c, a, now); err != nil {
			return err
		}
		if err := deleteComment(c.Tx, now.ID); err != nil {
			return err
		}
		if err := reaction.Drop(c.Tx, reaction.ReviewComment, now.ID); err != nil || now.Pending {
			return err
		}
		if err := dropEmpty(c.Tx, now.ReviewID); err != nil {
			return err
		}
		c.Touch()
		return pull.AddReviewComments(c.Tx, now.IssueID, -1)
	})
	return err
}

// changeComment locks the repository, reads the comment again, checks that the caller may change it, and
// calls fn.
func (s *Service) changeComment(
	ctx context.Context, a *repo.Access, found *Comment, fn func(*issue.Change, *Comment) error,
) (*Comment, error) {
	var changed *Comment
	_, err := s.issues.Change(ctx, a, found.Number, func(c *issue.Change) (err error) {
		if changed, err = commentByID(c.Tx, a.ID, found.ID, account.IDOf(a.Caller)); err != nil {
			return err
		}
		if err := mayEdit(a, changed.AuthorID, changed.Locked); err != nil {
			return err
		}
		return fn(c, changed)
	})
	return changed, err
}

// FindComment reads a comment that the caller may see, for an operation on it. Error: 404.
func (s *Service) FindComment(ctx context.Context, a *repo.Access, id int64) (c *Comment, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Comment, error) {
		return commentByID(tx, a.ID, id, account.IDOf(a.Caller))
	})
}

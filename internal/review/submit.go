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
	"arbor/internal/repo"
	"arbor/internal/rule"
	"arbor/internal/web"
)

// NewReview is a review to be created.
type NewReview struct {
	State    State // Pending: to be submitted later
	Text     issue.Text
	Commit   git.SHA // empty: the head
	Comments []NewComment
}

// Create creates a review of the caller with its comments, all or nothing. Errors: 403 for a locked
// conversation, 404, 422.
func (s *Service) Create(
	ctx context.Context, a *repo.Access, p *pull.Pull, i *issue.Issue, n NewReview,
) (*Review, error) {
	if err := mayWrite(a, i.Locked); err != nil {
		return nil, err
	}
	if err := checkSummary(n.Text); err != nil {
		return nil, err
	}
	if err := allowed(a, i, n.State, n.Text, len(n.Comments)); err != nil {
		return nil, err
	}
	if n.Commit == "" {
		n.Commit = p.HeadSHA
	}
	if err := s.covers(ctx, p, n.Commit); err != nil {
		return nil, err
	}
	anchors := make([]*Anchor, len(n.Comments))
	texts := []issue.Text{n.Text}
	for k := range n.Comments {
		anchors[k] = &n.Comments[k].Anchor
		texts = append(texts, n.Comments[k].Text)
	}
	hunks, err := s.place(ctx, p, n.Commit, anchors)
	if err != nil {
		return nil, err
	}
	var made *Review
	_, err = s.issues.Change(ctx, a, p.Number, func(c *issue.Change) error {
		if err := mayWrite(a, c.Issue.Locked); err != nil {
			return err
		}
		made = &Review{RepoID: a.ID, IssueID: p.IssueID, AuthorID: a.Caller.ID, State: n.State,
			Body: bodyOf(n.Text), Commit: n.Commit}
		if n.State != Pending {
			made.SubmittedAt = c.Tx.Now
		}
		if err := insertReview(c.Tx, made); err != nil {
			return err
		}
		if err := insertComments(c.Tx, made.comments(n.Comments, hunks, c.Tx.Now)); err != nil ||
			n.State == Pending {
			return err
		}
		return announce(c, made, int64(len(n.Comments)), texts...)
	})
	return made, err
}

// comments returns the rows of a new review's comments.
func (v *Review) comments(list []NewComment, hunks []string, now db.Time) []*Comment {
	rows := make([]*Comment, len(list))
	for k, n := range list {
		rows[k] = &Comment{RepoID: v.RepoID, IssueID: v.IssueID, ReviewID: v.ID, AuthorID: v.AuthorID,
			Pending: v.State == Pending, Body: *n.Text.Body, CreatedAt: now, UpdatedAt: now}
		rows[k].stand(n.Anchor, hunks[k])
	}
	return rows
}

func bodyOf(t issue.Text) string {
	if t.Body == nil {
		return ""
	}
	return *t.Body
}

// checkSummary reports a text of a review that is too long. Error: 422.
func checkSummary(t issue.Text) error {
	f := web.Faults{Resource: Resource}
	f.CheckText("body", bodyOf(t), issue.MaxBody)
	return f.Err()
}

// allowed returns the 422 for what cannot be said: authors do not approve what
// they propose, and a review that asks for something says what.
func allowed(a *repo.Access, i *issue.Issue, s State, t issue.Text, comments int) error {
	own := a.Caller.ID == i.AuthorID
	switch {
	case own && s == Approved:
		return refuse("Can not approve your own pull request")
	case own && s == ChangesRequested:
		return refuse("Can not request changes on your own pull request")
	case (s == Commented || s == ChangesRequested) && t.Body == nil && comments == 0:
		return errs.Validation(errs.Field{Resource: Resource, Field: "body", Code: errs.MissingField})
	}
	return nil
}

// announce applies the effects of a submitted review: events, counters, notifications and mentions.
func announce(c *issue.Change, v *Review, comments int64, texts ...issue.Text) error {
	c.Touch()
	c.Involve(v.AuthorID)
	c.Event(issue.EventReviewed, issue.Event{Detail: issue.Detail{Review: &issue.Review{
		ID: v.ID, Number: c.Issue.Number, State: eventNames[v.State], Commit: string(v.Commit)}}})
	if comments > 0 {
		if err := pull.AddReviewComments(c.Tx, v.IssueID, comments); err != nil {
			return err
		}
		ids, err := commentsOf(c.Tx, v.ID)
		if err != nil {
			return err
		}
		for _, id := range ids {
			c.AddHookEvent(hook.Event{Name: commentEvent, Action: "created", About: hook.About{ID: id}})
		}
	}
	if err := pull.Answer(c.Tx, v.IssueID, v.AuthorID, v.ID); err != nil {
		return err
	}
	return c.Read(texts...)
}

// Submit submits a pending review of the caller with the given state. A text replaces the stored one.
// Errors: 403, 404, 422.
func (s *Service) Submit(
	ctx context.Context, a *repo.Access, i *issue.Issue, id int64, state State, t issue.Text,
) (*Review, error) {
	if err := checkSummary(t); err != nil {
		return nil, err
	}
	said, err := db.Get(ctx, s.db, func(tx *db.Tx) ([]string, error) { return textsOfReview(tx, id) })
	if err != nil {
		return nil, err
	}
	texts := make([]issue.Text, 0, len(said)+1)
	for _, body := range said {
		texts = append(texts, issue.NewText(body))
	}
	return s.change(ctx, a, i, id, func(c *issue.Change, v *Review) error {
		switch {
		case v.AuthorID != a.Caller.ID:
			return errs.New(errs.Forbidden, "Must be the author of the review.")
		case v.State != Pending:
			return refuse("Can not submit a review that is not pending")
		}
		text := t
		if text.Body == nil {
			text = issue.NewText(v.Body)
		}
		if err := allowed(a, c.Issue, state, text, len(said)); err != nil {
			return err
		}
		v.State, v.Body, v.SubmittedAt = state, bodyOf(text), c.Tx.Now
		if err := updateReview(c.Tx, v); err != nil {
			return err
		}
		n, err := publish(c.Tx, v.ID)
		if err != nil {
			return err
		}
		return announce(c, v, n, append(texts, text)...)
	})
}

// Edit changes the text of a review. Errors: 403, 404, 422.
func (s *Service) Edit(
	ctx context.Context, a *repo.Access, i *issue.Issue, id int64, t issue.Text,
) (*Review, error) {
	f := web.Faults{Resource: Resource}
	if checkText(&f, bodyOf(t)); f.Err() != nil {
		return nil, f.Err()
	}
	return s.change(ctx, a, i, id, func(c *issue.Change, v *Review) error {
		if v.AuthorID != a.Caller.ID {
			return errs.New(errs.Forbidden, "Must be the author of the review.")
		}
		if v.Body == bodyOf(t) {
			return nil
		}
		before := v.Body
		v.Body = bodyOf(t)
		if err := updateReview(c.Tx, v); err != nil || v.State == Pending {
			return err
		}
		if err := c.NoteEdit(revision.Text{Kind: revision.OfReview, ID: v.ID}, before); err != nil {
			return err
		}
		c.AddHookEvent(hook.Event{Name: "pull_request_review", Action: "edited", About: hook.About{ID: v.ID,
			Changes: map[string]any{"body": hook.From(before)}}})
		c.Touch()
		return c.Read(t)
	})
}

// Delete deletes a pending review of the caller with its comments. Errors: 403, 404, 422 for a submitted
// review.
func (s *Service) Delete(ctx context.Context, a *repo.Access, i *issue.Issue, id int64) (*Review, error) {
	return s.change(ctx, a, i, id, func(c *issue.Change, v *Review) error {
		if v.State != Pending {
			return refuse("Can not delete a non-pending pull request review")
		}
		return deleteReview(c.Tx, v.ID)
	})
}

// Dismiss dismisses a review that approves or requests changes. Errors: 403, 404, 422 for other reviews.
func (s *Service) Dismiss(
	ctx context.Context, a *repo.Access, i *issue.Issue, id int64, message string,
) (*Review, error) {
	f := web.Faults{Resource: Resource}
	f.CheckFilled("message", message)
	f.CheckText("message", message, issue.MaxBody)
	if err := f.Err(); err != nil {
		return nil, err
	}
	return s.change(ctx, a, i, id, func(c *issue.Change, v *Review) error {
		switch v.State {
		case Approved, ChangesRequested:
		case Dismissed:
			return refuse("Can not dismiss a dismissed pull request review")
		case Pending:
			return refuse("Can not dismiss a pending pull request review")
		default:
			return refuse("Can not dismiss a commented pull request review")
		}
		base, err := pull.BaseOf(c.Tx, c.Issue.ID)
		if err != nil {
			return err
		}
		if err := rule.MayDismiss(c.Tx, a, base); err != nil {
			return err
		}
		return dismiss(c, v, message)
	})
}

// MayDismiss reports whether the caller may dismiss reviews of pull requests into a branch.
func (s *Service) MayDismiss(ctx context.Context, a *repo.Access, base string) (bool, error) {
	if a.Role < account.Push || !a.Ruled {
		return a.Role >= account.Push, nil
	}
	err := s.db.Read(ctx, func(tx *db.Tx) error { return rule.MayDismiss(tx, a, base) })
	if errs.Is(err, errs.Forbidden) {
		return false, nil
	}
	return err == nil, err
}

func dismiss(c *issue.Change, v *Review, message string) error {
	c.Event(issue.EventReviewDismissed, issue.Event{Detail: issue.Detail{Review: &issue.Review{
		ID: v.ID, Number: c.Issue.Number, State: eventNames[v.State], Message: message}}})
	c.Touch()
	v.State = Dismissed
	return updateReview(c.Tx, v)
}

// DismissStale dismisses the approvals of a pull request whose head moves.
func DismissStale(c *issue.Change) error {
	list, err := approvals(c.Tx, c.Issue.ID)
	if err != nil {
		return err
	}
	for _, v := range list {
		if err := dismiss(c, v, "The commits or the base changed, and a rule of the base branch dismisses "+
			"approvals then."); err != nil {
			return err
		}
	}
	return nil
}

// change locks the repository, reads the review again and calls fn.
func (s *Service) change(
	ctx context.Context, a *repo.Access, i *issue.Issue, id int64, fn func(*issue.Change, *Review) error,
) (*Review, error) {
	var v *Review
	_, err := s.issues.Change(ctx, a, i.Number, func(c *issue.Change) (err error) {
		if err := mayWrite(a, c.Issue.Locked); err != nil {
			return err
		}
		if v, err = reviewByID(c.Tx, c.Issue.ID, id, account.IDOf(a.Caller)); err != nil {
			return err
		}
		return fn(c, v)
	})
	return v, err
}

// FindReview reads a review that is visible to the caller, for an operation on it. Error: 404.
func (s *Service) FindReview(
	ctx context.Context, a *repo.Access, i *issue.Issue, id int64,
) (v *Review, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*Review, error) {
		return reviewByID(tx, i.ID, id, account.IDOf(a.Caller))
	})
}

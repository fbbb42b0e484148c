package review

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// Hide hides the text of a submitted review for a reason, or shows it again for 0, see [comment.Service.Hide]. Errors:
// 403, 404, 422.
func (s *Service) Hide(
	ctx context.Context, a *repo.Access, number, id int64, why issuekit.Hidden,
) error {
	_, err := s.issues.Change(ctx, a, number, func(c *issue.Change) error {
		v, err := reviewByID(c.Tx, c.Issue.ID, id, account.IDOf(a.Caller))
		if err != nil {
			return err
		}
		if v.State == Pending {
			return errs.New(errs.Invalid, "A pending review cannot be hidden.")
		}
		if err := issue.MayHide(a, v.AuthorID, c.Issue.Locked, v.Hidden); err != nil || v.Hidden == why {
			return err
		}
		v.Hidden = why
		return hideReview(c.Tx, v)
	})
	return err
}

// HideComment hides a comment for a reason, or shows it again for 0, see [comment.Service.Hide]. Errors: 403, 404, 422.
func (s *Service) HideComment(ctx context.Context, a *repo.Access, found *Comment, why issuekit.Hidden) error {
	_, err := s.issues.Change(ctx, a, found.Number, func(c *issue.Change) error {
		now, err := commentByID(c.Tx, a.ID, found.ID, account.IDOf(a.Caller))
		if err != nil {
			return err
		}
		if now.Pending {
			return errs.New(errs.Invalid, "A comment of a pending review cannot be hidden.")
		}
		if err := issue.MayHide(a, now.AuthorID, now.Locked, now.Hidden); err != nil || now.Hidden == why {
			return err
		}
		now.Hidden = why
		return hideComment(c.Tx, now)
	})
	return err
}

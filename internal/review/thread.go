package review

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/repo"
)

// ThreadKind is the kind of a thread in node ids.
const ThreadKind = "PullRequestReviewThread"

// conversation is a review thread: a comment and its replies, as far as they are visible to the caller.
type conversation struct {
	root     int64 // id of the first comment, which may be deleted
	issueID  issue.ID
	total    int64      // number of comments
	by       account.ID // user who resolved it; 0 if unresolved
	comments []*Comment // the first of them
}

// Resolve resolves the thread of a comment, or unresolves it if resolved is false. It requires push access
// or the author of the pull request. Errors: 403, 404.
func (s *Service) Resolve(ctx context.Context, a *repo.Access, found *Comment, resolved bool) error {
	_, err := s.issues.Change(ctx, a, found.Number, func(c *issue.Change) error {
		now, err := commentByID(c.Tx, a.ID, found.ID, account.IDOf(a.Caller))
		if err != nil {
			return err
		}
		if err := mayResolve(a, c.Issue); err != nil {
			return err
		}
		if now.Pending {
			return errs.New(errs.Forbidden, "The thread is not submitted yet.")
		}
		changed, err := setResolved(c.Tx, now, a.Caller.ID, resolved)
		if err == nil && changed {
			c.AddHookEvent(hook.Event{Name: "pull_request_review_thread",
				Action: map[bool]string{true: "resolved", false: "unresolved"}[resolved],
				About:  hook.About{ID: now.ID}})
		}
		return err
	})
	return err
}

// mayResolve returns 403 unless the caller is the author of the pull request or has push access.
func mayResolve(a *repo.Access, i *issue.Issue) error {
	if a.Role < account.Push && account.IDOf(a.Caller) != i.AuthorID {
		return errs.New(errs.Forbidden,
			"Must be the author of the pull request or have push access to Repository.")
	}
	return mayWrite(a, i.Locked)
}

// root returns the id of the thread's first comment.
func (c *Comment) root() int64 {
	if c.ReplyTo != 0 {
		return c.ReplyTo
	}
	return c.ID
}

package issue

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// MaxPinned is how many issues of a repository can be pinned at one time, as at GitHub.
const MaxPinned = 3

// Pin lets an issue stand first in its repository; a pinned one stays as it is. The caller
// needs push access. Errors: 403, 404, 410; 422 for a pull request, and for one issue more
// than MaxPinned.
func (s *Service) Pin(ctx context.Context, a *repo.Access, number int64) (*Issue, error) {
	return s.changePin(ctx, a, number, func(c *Change) error {
		if !c.Issue.PinnedAt.IsZero() {
			return nil
		}
		pinned, err := PinnedIn(c.Tx, a.ID)
		if err != nil {
			return err
		}
		if len(pinned) >= MaxPinned {
			return errs.Newf(errs.Invalid, "A repository can have %d pinned issues at most.", MaxPinned)
		}
		c.Issue.PinnedAt, c.Issue.PinnedBy = c.Tx.Now, c.Actor.ID
		c.Event(EventPinned, Event{})
		return nil
	})
}

// Unpin takes that back; an issue that is not pinned stays as it is. Errors: those of Pin.
func (s *Service) Unpin(ctx context.Context, a *repo.Access, number int64) (*Issue, error) {
	return s.changePin(ctx, a, number, func(c *Change) error {
		if !c.Issue.PinnedAt.IsZero() {
			c.Issue.PinnedAt, c.Issue.PinnedBy = 0, 0
			c.Event(EventUnpinned, Event{})
		}
		return nil
	})
}

func (s *Service) changePin(
	ctx context.Context, a *repo.Access, number int64, fn func(c *Change) error,
) (*Issue, error) {
	if err := a.Require(account.Push); err != nil {
		return nil, err
	}
	return s.Change(ctx, a, number, func(c *Change) error {
		if c.Issue.Pull {
			return errs.New(errs.Invalid, "Only issues can be pinned, not pull requests.")
		}
		if err := Enabled(a.Repo, c.Issue); err != nil {
			return err
		}
		return fn(c)
	})
}

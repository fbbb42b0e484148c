package issue

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/errs"
	"arbor/internal/repo"
)

// MaxPinned is the maximum number of pinned issues of a repository, as at GitHub.
const MaxPinned = 3

// Pin pins an issue to the top of its repository's list. A pinned issue is left unchanged. It requires push
// access. Errors: 403, 404, 410; 422 for a pull request and for more than MaxPinned issues.
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

// Unpin unpins an issue. An issue that is not pinned is left unchanged. Errors: those of Pin.
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

package notification

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/issue/subscription"
	"arbor/internal/repo"
)

// MarkAll marks those of the caller's threads as read that the caller can see, up to
// a time; zero: all.
func (s *Service) MarkAll(ctx context.Context, caller *account.Caller, until db.Time) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		return markRead(tx, filter{caller: caller}, until)
	})
}

// MarkRepo is MarkAll for the threads of one repository.
func (s *Service) MarkRepo(ctx context.Context, a *repo.Access, until db.Time) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		return markRead(tx, filter{Filter: Filter{Repo: a.ID}, caller: a.Caller}, until)
	})
}

// MarkRead marks a thread as read. Error: 404.
func (s *Service) MarkRead(ctx context.Context, caller *account.Caller, id int64) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if _, err := threadByID(tx, caller, id); err != nil {
			return err
		}
		return markRead(tx, filter{caller: caller, id: id}, 0)
	})
}

// Finish removes a thread: it is done. What happens later begins another. Error: 404.
func (s *Service) Finish(ctx context.Context, caller *account.Caller, id int64) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		t, err := threadByID(tx, caller, id)
		if err != nil {
			return err
		}
		return remove(tx, t, caller.ID)
	})
}

// Subscription finds how the caller is subscribed to the subject of a thread. Error: 404.
func (s *Service) Subscription(
	ctx context.Context, caller *account.Caller, id int64,
) (found subscription.Subscription, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		t, err := threadByID(tx, caller, id)
		if err != nil {
			return err
		}
		if t.Issue != 0 {
			i, err := issue.ByNumber(tx, t.RepoID, t.Number)
			if err == nil {
				found, err = subscription.Of(tx, i, caller.ID)
			}
			return err
		}
		said, at, err := wish(tx, t.SubjectID, caller.ID)
		found = following(subscription.Wish(said), at)
		return err
	})
	return found, err
}

// Subscribe stores the caller's subscription to the subject of a thread. Of an issue it is the
// issue's own subscription. Error: 404.
func (s *Service) Subscribe(
	ctx context.Context, caller *account.Caller, id int64, w subscription.Wish,
) (now subscription.Subscription, err error) {
	found, err := s.Thread(ctx, caller, id)
	if err != nil {
		return now, err
	}
	if t := found.Threads[0]; t.Issue != 0 {
		return s.subscriptions.SubscribeIf(ctx, found.Repos[t.RepoID].OnArchived(), t.Number, w, func(tx *db.Tx) error {
			_, err := threadByID(tx, caller, id)
			return err
		})
	}
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		t, err := threadByID(tx, caller, id)
		if err != nil {
			return err
		}
		if err := putWish(tx, t.SubjectID, caller.ID, int64(w)); err != nil {
			return err
		}
		_, at, err := wish(tx, t.SubjectID, caller.ID)
		now = following(w, at)
		return err
	})
	return now, err
}

// following is the subscription that follows from a wish.
func following(w subscription.Wish, at db.Time) subscription.Subscription {
	s := subscription.Subscription{Subscribed: w == subscription.Subscribe, Ignored: w == subscription.Ignore}
	if s.Subscribed || s.Ignored {
		s.Reason, s.Since = "manual", at
	}
	return s
}

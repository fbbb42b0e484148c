package star

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/scope"
)

// WatchScopes are the scopes for watching and for notifications: a classic token needs one of them.
// Fine-grained tokens cannot watch.
const WatchScopes = scope.PublicRepo | scope.Notifications

// Wish is a user's choice of notifications of a repository.
type Wish uint8

// The levels of watching. Without one, people are notified of what they participate in.
const (
	NoWish Wish = iota
	Everything
	Nothing
)

// Subscription is a user's subscription to a repository.
type Subscription struct {
	Wish  Wish
	Since db.Time // zero: NoWish
}

// Subscription finds how the caller is subscribed.
func (s *Service) Subscription(ctx context.Context, a *repo.Access) (sub Subscription, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (Subscription, error) {
		return subscription(tx, a.ID, a.Caller.ID)
	})
}

func subscription(tx *db.Tx, repoID repo.ID, userID account.ID) (Subscription, error) {
	m, err := marksOf(tx, repoID, userID)
	switch {
	case err != nil:
		return Subscription{}, err
	case !m.watched.IsZero():
		return Subscription{Everything, m.watched}, nil
	case !m.silenced.IsZero():
		return Subscription{Nothing, m.silenced}, nil
	}
	return Subscription{}, nil
}

// Subscribe stores the caller's choice. Repeating it has no effect, and nothing else of the repository
// changes (decision 57). Error: 404 if the repository was deleted.
func (s *Service) Subscribe(ctx context.Context, a *repo.Access, wish Wish) (now Subscription, err error) {
	err = s.db.WriteAs(ctx, a, func(tx *db.Tx) (err error) {
		if wish == Everything {
			_, err = put(tx, Watch, a.ID, a.Caller.ID)
		} else {
			_, err = drop(tx, Watch, a.ID, a.Caller.ID)
		}
		if err != nil {
			return err
		}
		if wish == Nothing {
			err = silence(tx, a.ID, a.Caller.ID)
		} else {
			err = endSilence(tx, a.ID, a.Caller.ID)
		}
		if err == nil {
			now, err = subscription(tx, a.ID, a.Caller.ID)
		}
		return err
	})
	return now, err
}

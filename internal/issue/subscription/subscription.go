// Package subscription finds who is told of an issue: by wish, or by having a part in it.
//
//	subscription.go   wishes, and what follows from them
//	store.go          the SQL, of the table issue_subscriptions
//	api.go            the handlers and their JSON; routes.go: their addresses
//
// Having a part in an issue subscribes as package issue changes it. Subscriptions are
// postings ([posting.BySubscriber]), by which lists find them.
package subscription

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// Wish is what somebody said about being told of an issue. It outweighs having
// a part in the issue.
type Wish uint8

// The wishes, as they are stored.
const (
	NoWish Wish = iota // nothing was said
	Subscribe
	Unsubscribe
	Ignore
)

// Subscription is how somebody stands to an issue.
type Subscription struct {
	Subscribed bool
	Ignored    bool
	Reason     string  // manual, author, assign, mention or comment; empty: neither
	Since      db.Time // zero: neither
}

// Service holds what the operations on subscriptions share.
type Service struct {
	db     *db.DB
	issues *issue.Service
}

// New makes the service.
func New(d *db.DB, issues *issue.Service) *Service { return &Service{d, issues} }

// there reports whether it is a subscription, be it to silence.
func (s *Subscription) there() bool { return s.Subscribed || s.Ignored }

// Get finds how the caller stands to an issue. Errors: 404, 410.
func (s *Service) Get(ctx context.Context, a *repo.Access, number int64) (now Subscription, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		i, err := issue.EnabledByNumber(tx, a, number)
		if err == nil {
			now, err = Of(tx, i, a.Caller.ID)
		}
		return err
	})
	return now, err
}

// Of finds how an account stands to an issue: by what it said, else
// by the part that it has.
func Of(tx *db.Tx, i *issue.Issue, userID account.ID) (s Subscription, err error) {
	f, err := standingOf(tx, i.ID, userID)
	if err != nil {
		return s, err
	}
	switch f.wish {
	case Subscribe:
		return Subscription{Subscribed: true, Reason: "manual", Since: f.at}, nil
	case Ignore:
		return Subscription{Ignored: true, Reason: "manual", Since: f.at}, nil
	case Unsubscribe:
		return s, nil
	}
	if !f.told {
		return s, nil
	}
	if i.AuthorID == userID {
		return Subscription{Subscribed: true, Reason: "author", Since: i.CreatedAt}, nil
	}
	return Subscription{Subscribed: true, Reason: f.reason, Since: f.since}, nil
}

// Subscribe stores what the caller wishes, and returns how that stands to the
// issue now. Saying it again changes nothing; updated_at stays (decision 57).
// Errors: 404.
func (s *Service) Subscribe(
	ctx context.Context, a *repo.Access, number int64, wish Wish,
) (Subscription, error) {
	return s.SubscribeIf(ctx, a, number, wish, func(*db.Tx) error { return nil })
}

// SubscribeIf is Subscribe unless may, which is called in the transaction, refuses it. Errors: also those of
// may.
func (s *Service) SubscribeIf(
	ctx context.Context, a *repo.Access, number int64, wish Wish, may func(*db.Tx) error,
) (Subscription, error) {
	var now Subscription
	_, err := s.issues.Change(ctx, a, number, func(c *issue.Change) error {
		if err := may(c.Tx); err != nil {
			return err
		}
		if err := follow(c, wish); err != nil {
			return err
		}
		at := c.Tx.Now
		old, since, err := wishOf(c.Tx, c.Issue.ID, a.Caller.ID)
		if err == nil && old == wish {
			at = since
		} else if err == nil {
			err = putWish(c.Tx, c.Issue.ID, a.Caller.ID, wish)
		}
		now = Subscription{Subscribed: wish == Subscribe, Ignored: wish == Ignore}
		if now.there() {
			now.Reason, now.Since = "manual", at
		}
		return err
	})
	return now, err
}

// follow makes the index and the events follow a wish of the actor's.
func follow(c *issue.Change, wish Wish) error {
	id := c.Actor.ID
	has, err := posting.Which(c.Tx, c.Issue.ID, posting.BySubscriber, []account.ID{id})
	if err != nil || has[id] == (wish == Subscribe) {
		return err
	}
	subscribed := posting.BySubscriber.OfUser(id)
	if wish == Subscribe {
		c.Event(issue.EventSubscribed, issue.Event{UserID: id})
		c.Also(subscribed)
		return nil
	}
	c.Event(issue.EventUnsubscribed, issue.Event{UserID: id})
	c.Without(subscribed)
	return nil
}

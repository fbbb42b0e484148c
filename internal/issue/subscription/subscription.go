// Package subscription implements subscriptions to issues, explicit or by participation.
//
//	subscription.go   choices, and their effects
//	store.go          the SQL, of the table issue_subscriptions
//	api.go            the handlers and their JSON; routes.go: their routes
//
// Package issue subscribes participants. Subscriptions are postings ([posting.BySubscriber]), so that lists
// can find them.
package subscription

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// Wish is an account's explicit choice for an issue. It takes precedence over participation.
type Wish uint8

// Wishes as stored.
const (
	NoWish Wish = iota // no choice
	Subscribe
	Unsubscribe
	Ignore
)

// Subscription is the state of an account's subscription to an issue.
type Subscription struct {
	Subscribed bool
	Ignored    bool
	Reason     string  // manual, author, assign, mention or comment; empty: not subscribed or ignored
	Since      db.Time // zero: not subscribed or ignored
}

// Service implements the operations on subscriptions.
type Service struct {
	db     *db.DB
	issues *issue.Service
}

// New returns a Service.
func New(d *db.DB, issues *issue.Service) *Service { return &Service{d, issues} }

// exists reports whether the account is subscribed or ignores the issue.
func (s *Subscription) exists() bool { return s.Subscribed || s.Ignored }

// Get returns the caller's subscription to an issue. Errors: 404, 410.
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

// States returns for each of the issues whether the caller is subscribed (Subscribe), ignores it (Ignore), or neither.
// The caller of this function must have access to the issues.
func (s *Service) States(ctx context.Context, userID account.ID, ids []issue.ID) (found map[issue.ID]Wish, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (map[issue.ID]Wish, error) { return statesOf(tx, userID, ids) })
}

// Of returns an account's subscription to an issue: its explicit choice, else by participation.
func Of(tx *db.Tx, i *issue.Issue, userID account.ID) (s Subscription, err error) {
	f, err := relationOf(tx, i.ID, userID)
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
	if !f.participates {
		return s, nil
	}
	if i.AuthorID == userID {
		return Subscription{Subscribed: true, Reason: "author", Since: i.CreatedAt}, nil
	}
	return Subscription{Subscribed: true, Reason: f.reason, Since: f.since}, nil
}

// Subscribe stores the caller's choice and returns the resulting subscription. Repeating a choice has no
// effect; updated_at does not change (decision 57). Errors: 404.
func (s *Service) Subscribe(
	ctx context.Context, a *repo.Access, number int64, wish Wish,
) (Subscription, error) {
	return s.SubscribeIf(ctx, a, number, wish, func(*db.Tx) error { return nil })
}

// SubscribeIf is like Subscribe, but calls may in the transaction and fails with its error. Errors: also
// those of may.
func (s *Service) SubscribeIf(
	ctx context.Context, a *repo.Access, number int64, wish Wish, may func(*db.Tx) error,
) (Subscription, error) {
	var now Subscription
	_, err := s.issues.Change(ctx, a, number, func(c *issue.Change) error {
		if err := may(c.Tx); err != nil {
			return err
		}
		if err := updatePostings(c, wish); err != nil {
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
		if now.exists() {
			now.Reason, now.Since = "manual", at
		}
		return err
	})
	return now, err
}

// updatePostings updates postings and events after the actor's choice.
func updatePostings(c *issue.Change, wish Wish) error {
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

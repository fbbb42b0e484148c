// Package savedreply keeps texts that people insert into their comments again and again.
//
//   - savedreply.go: replies, and what their owners do with them
//   - store.go: the SQL, of table saved_replies
//
// Only their owner sees them: on the page /settings/replies, in the menu of the editor, and as User.savedReplies of
// GraphQL. They are deleted with the account.
package savedreply

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Bounds of replies, the lengths in characters.
const (
	Max      = 100 // of an account
	MaxTitle = 100
	MaxBody  = 10_000
)

// ID is the id of a reply.
type ID int64

// Reply is a saved reply.
type Reply struct {
	ID        ID
	AccountID account.ID
	Title     string
	Body      string
	CreatedAt db.Time
	UpdatedAt db.Time
}

// Text is what somebody writes of a reply.
type Text struct{ Title, Body string }

// Service keeps replies. Safe for concurrent use.
type Service struct{ db *db.DB }

// New returns a Service.
func New(d *db.DB) *Service { return &Service{d} }

// List returns the caller's replies, the one that was changed last first. Errors: those of admission.Hold.
func (s *Service) List(ctx context.Context, caller *account.Caller) (list []Reply, err error) {
	list, err = db.GetOne(ctx, s.db, func(tx *db.Tx) ([]Reply, error) { return of(tx, caller.ID) })
	size := 0
	for _, r := range list {
		size += len(r.Title) + len(r.Body)
	}
	if err == nil {
		err = admission.Hold(ctx, int64(size))
	}
	return list, err
}

func (t Text) check() error {
	f := web.Faults{Resource: "SavedReply"}
	for _, field := range []struct {
		name, value string
		max         int
	}{{"title", t.Title, MaxTitle}, {"body", t.Body, MaxBody}} {
		f.CheckFilled(field.name, field.value)
		f.CheckText(field.name, field.value, field.max)
	}
	return f.Err()
}

// Add saves a reply of the caller. Errors: 422 for a text that is missing or too long, and past Max.
func (s *Service) Add(ctx context.Context, caller *account.Caller, t Text) (r Reply, err error) {
	if err := t.check(); err != nil {
		return r, err
	}
	err = s.db.WriteAs(ctx, caller, func(tx *db.Tx) error {
		if err := account.HoldID(tx, caller.ID); err != nil {
			return err
		}
		held, err := count(tx, caller.ID)
		if err == nil && held >= Max {
			err = errs.Newf(errs.Invalid, "You have %d saved replies, which is the limit. Delete one first.", Max)
		}
		if err != nil {
			return err
		}
		r, err = insert(tx, caller.ID, t)
		return err
	})
	return r, err
}

// Edit changes a reply of the caller. Errors: 404; 422 for a text that is missing or too long.
func (s *Service) Edit(ctx context.Context, caller *account.Caller, id ID, t Text) error {
	if err := t.check(); err != nil {
		return err
	}
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error { return present(update(tx, caller.ID, id, t)) })
}

// Remove deletes a reply of the caller. Error: 404.
func (s *Service) Remove(ctx context.Context, caller *account.Caller, id ID) error {
	return s.db.WriteAs(ctx, caller, func(tx *db.Tx) error { return present(remove(tx, caller.ID, id)) })
}

// present is the error of a statement, or 404 if it changed no row.
func present(n int64, err error) error {
	if err == nil && n == 0 {
		return errs.Absent()
	}
	return err
}

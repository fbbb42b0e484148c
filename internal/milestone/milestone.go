// Package milestone holds the milestones of repositories.
//
//	milestone.go   the type, and how milestones are made and changed
//	store.go       the SQL
//	api.go         the handlers
//	payload.go     their JSON
//
// Table: milestones; and of repos next_milestone.
//
// It knows no issues. Package issue puts them into milestones and takes them out. Package
// deletion does when a milestone is deleted, so DELETE is answered there. How many are in one is read from the counters that package issue keeps.
//
// Invariants: numbers grow and are never used again; titles are unique in their
// repository. Each change locks the repository's row first and raises both
// generations of package tracker.
package milestone

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// resource is the name of milestones in validation errors (decision 15).
const resource = "Milestone"

// Limits in code points (decision 19).
const (
	MaxTitle       = 256
	maxDescription = 65_536
)

// Milestone is a row of the table milestones. The issues in it are counted by
// the postings of package issue.
type Milestone struct {
	ID          int64
	RepoID      repo.ID
	Number      int64 // within the repository, from 1
	Title       string
	Description *string
	State       tracker.State
	CreatorID   account.ID
	CreatedAt   db.Time
	UpdatedAt   db.Time
	DueOn       db.Time // zero: none
	ClosedAt    db.Time // zero: open

	OpenIssues   int64
	ClosedIssues int64
}

// Edit is what a caller gives a milestone; what is not given stays.
type Edit struct {
	Title       web.Opt[string]
	Description web.Opt[string] // null and an empty text take it away
	State       web.Opt[string] // open or closed
	DueOn       web.Opt[db.Time]
}

// apply changes m as the edit says, and reports whether it did.
func (e *Edit) apply(m *Milestone, now db.Time) bool {
	before := *m
	m.Title = e.Title.Or(m.Title)
	described := e.Description.Set && e.Description.Value != textOf(m.Description)
	if described {
		m.Description = web.OrNil(e.Description.Value)
	}
	if e.DueOn.Set {
		m.DueOn = e.DueOn.Value
	}
	if e.State.Given() {
		m.State, _ = tracker.ParseState(e.State.Value)
	}
	switch {
	case m.State == tracker.Open:
		m.ClosedAt = 0
	case before.State != tracker.Closed:
		m.ClosedAt = now
	}
	return described || m.Title != before.Title || m.DueOn != before.DueOn || m.State != before.State
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// Service holds what the operations on milestones share.
type Service struct{ db *db.DB }

// New makes the operations on a database.
func New(d *db.DB) *Service { return &Service{d} }

// Create makes a milestone by the caller, under the next number. Errors: 404
// when the repository is gone, 422 when the title is taken.
func (s *Service) Create(ctx context.Context, a *repo.Access, e Edit) (*Milestone, error) {
	var m *Milestone
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		number, err := takeNumber(tx, a.ID)
		if err != nil {
			return err
		}
		m = &Milestone{RepoID: a.ID, Number: number, State: tracker.Open, CreatorID: a.Caller.ID, CreatedAt: tx.Now, UpdatedAt: tx.Now}
		e.apply(m, tx.Now)
		return insert(tx, m)
	})
	return m, err
}

// Edit changes a milestone. Errors: 404, 422 when the title is another
// milestone's.
func (s *Service) Edit(ctx context.Context, a *repo.Access, number int64, e Edit) (*Milestone, error) {
	var m *Milestone
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if err := tracker.Lock(tx, a.ID); err != nil {
			return err
		}
		if m, err = ByNumber(tx, a.ID, number); err != nil {
			return err
		}
		title := m.Title
		if !e.apply(m, tx.Now) {
			return nil
		}
		if m.Title != title {
			if there, err := titled(tx, a.ID, m.Title); err != nil {
				return err
			} else if there {
				return taken()
			}
		}
		m.UpdatedAt = tx.Now
		return update(tx, m)
	})
	return m, err
}

// taken is the 422 for a title that another milestone has.
func taken() error {
	return errs.Validation(errs.Field{Resource: resource, Field: "title", Code: errs.AlreadyExists})
}

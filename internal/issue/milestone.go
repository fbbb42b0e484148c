package issue

import (
	"context"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/tracker"
	"arbor/internal/web"
)

// Milestone is a row of the table milestones. The issues in it are counted by
// the postings.
type Milestone struct {
	ID          int64
	RepoID      int64
	Number      int64 // within the repository, from 1
	Title       string
	Description *string
	State       State
	CreatorID   int64
	CreatedAt   db.Time
	UpdatedAt   db.Time
	DueOn       db.Time // zero: none
	ClosedAt    db.Time // zero: open

	OpenIssues   int64
	ClosedIssues int64
}

// MaxMilestoneTitle is in code points.
const MaxMilestoneTitle = 256

// MilestoneEdit is what a caller gives a milestone; what is not given stays.
type MilestoneEdit struct {
	Title       web.Opt[string]
	Description web.Opt[string] // null and an empty text take it away
	State       web.Opt[string] // open or closed
	DueOn       web.Opt[db.Time]
}

// apply changes m as the edit says, and reports whether it did.
func (e *MilestoneEdit) apply(m *Milestone, now db.Time) bool {
	before := *m
	m.Title = e.Title.Or(m.Title)
	described := e.Description.Set && e.Description.Value != textOf(m.Description)
	if described {
		m.Description = orNone(e.Description.Value)
	}
	if e.DueOn.Set {
		m.DueOn = e.DueOn.Value
	}
	if e.State.Given() {
		m.State, _ = ParseState(e.State.Value)
	}
	switch {
	case m.State == Open:
		m.ClosedAt = 0
	case before.State != Closed:
		m.ClosedAt = now
	}
	return described || m.Title != before.Title || m.DueOn != before.DueOn || m.State != before.State
}

// orNone makes an empty text absent (decision 19).
func orNone(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// CreateMilestone makes a milestone by the caller, under the next number.
// Errors: 404 when the repository is gone, 422 when the title is taken.
func (s *Service) CreateMilestone(ctx context.Context, a *repo.Access, e MilestoneEdit) (*Milestone, error) {
	var m *Milestone
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		number, err := takeMilestoneNumber(tx, a.ID)
		if err != nil {
			return err
		}
		m = &Milestone{RepoID: a.ID, Number: number, State: Open, CreatorID: a.Caller.ID, CreatedAt: tx.Now, UpdatedAt: tx.Now}
		e.apply(m, tx.Now)
		return insertMilestone(tx, m)
	})
	return m, err
}

// EditMilestone changes a milestone. Errors: 404, 422 when the title is another
// milestone's.
func (s *Service) EditMilestone(ctx context.Context, a *repo.Access, number int64, e MilestoneEdit) (*Milestone, error) {
	var m *Milestone
	err := s.db.Write(ctx, func(tx *db.Tx) (err error) {
		if err := tracker.Lock(tx, a.ID); err != nil {
			return err
		}
		if m, err = milestoneByNumber(tx, a.ID, number); err != nil {
			return err
		}
		title := m.Title
		if !e.apply(m, tx.Now) {
			return nil
		}
		if m.Title != title {
			if taken, err := milestoneTitled(tx, a.ID, m.Title); err != nil {
				return err
			} else if taken {
				return milestoneTaken()
			}
		}
		m.UpdatedAt = tx.Now
		return updateMilestone(tx, m)
	})
	return m, err
}

// milestoneTaken is the 422 for a title that another milestone has.
func milestoneTaken() error {
	return errs.Validation(errs.Field{Resource: "Milestone", Field: "title", Code: errs.AlreadyExists})
}

// DeleteMilestone removes a milestone and takes its issues out of it. They keep
// their updated_at; each notes the event. Error: 404.
func (s *Service) DeleteMilestone(ctx context.Context, a *repo.Access, number int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tracker.Lock(tx, a.ID); err != nil {
			return err
		}
		m, err := milestoneByNumber(tx, a.ID, number)
		if err != nil {
			return err
		}
		detail, err := (&Detail{Milestone: m.Title}).encode()
		if err != nil {
			return err
		}
		return deleteMilestone(tx, m, a.Caller.ID, detail)
	})
}

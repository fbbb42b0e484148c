package issue

import (
	"arbor/internal/db"
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

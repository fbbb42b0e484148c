package issue

import (
	"strconv"

	"arbor/internal/db"
	"arbor/internal/tracker"
)

// Brief is the short form of an issue or a pull request in lists on pages, with the field names of GitHub's
// payload. It has no users, labels or bodies, so only the issue and its repository are read for it.
type Brief struct {
	RepoURL     string     `json:"repository_url"`
	HTMLURL     string     `json:"html_url"`
	Number      int64      `json:"number"`
	Title       string     `json:"title"`
	State       string     `json:"state"`
	StateReason *string    `json:"state_reason"`
	Draft       bool       `json:"draft"`
	Comments    int64      `json:"comments"`
	UpdatedAt   db.Time    `json:"updated_at"`
	Pull        *briefPull `json:"pull_request,omitempty"` // nil for an issue
}

type briefPull struct {
	MergedAt db.Time `json:"merged_at"`
}

// NewBrief returns the short form of an issue. at is the place of its repository.
func NewBrief(i *Issue, at *tracker.Place) *Brief {
	b := &Brief{RepoURL: at.API, HTMLURL: at.Page + tracker.PageSegment(i.Pull) + strconv.FormatInt(i.Number, 10),
		Number: i.Number,
		Title:  i.Title, State: i.State.String(), StateReason: i.StateReason.orNil(), Draft: i.Draft,
		Comments: i.Comments, UpdatedAt: i.UpdatedAt}
	if i.Pull {
		b.Pull = &briefPull{i.MergedAt}
	}
	return b
}

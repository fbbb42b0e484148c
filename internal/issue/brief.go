package issue

import (
	"strconv"

	"arbor/internal/db"
	"arbor/internal/tracker"
)

// Brief is what a page's line shows of an issue or a pull request, by the names of GitHub's payload: nothing
// of people, labels and texts, so nothing is read for it but the issue and its repository.
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
	Pull        *briefPull `json:"pull_request,omitempty"` // of a pull request
}

type briefPull struct {
	MergedAt db.Time `json:"merged_at"`
}

// NewBrief makes the brief form of an issue of the repository at a place.
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

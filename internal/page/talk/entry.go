package talk

import (
	"strings"
	"time"

	"arbor/internal/page"
)

// Entry is one thing in a timeline: a comment, a review, or an event with what events of its kind tell.
type Entry struct {
	page.Comment // of comments and reviews; its ID and CreatedAt are of all
	Event        string
	Actor        *page.User

	CommitID    string      `json:"commit_id"`
	CommitURL   string      `json:"commit_url"`
	StateReason string      `json:"state_reason"`
	Label       *page.Label // of labeled and unlabeled
	Assignee    *page.User  // of assigned and unassigned
	Milestone   *page.Milestone
	Rename      *struct{ From, To string }
	Requester   *page.User `json:"review_requester"`
	Reviewer    *page.User `json:"requested_reviewer"`
	LockReason  string     `json:"lock_reason"`
	Dismissed   *struct {
		ID      int64 `json:"review_id"`
		State   string
		Message string `json:"dismissal_message"`
	} `json:"dismissed_review"`
	Source      *struct{ Issue *page.Issue } // of cross-referenced: what refers to this
	State       string                       // of reviews: approved, changes_requested, commented, dismissed
	SubmittedAt time.Time                    `json:"submitted_at"`

	Box            *Box         // of comments and reviews
	Added, Removed []page.Label // of labeled and unlabeled: with those that follow at once
	Extra          any          // of the room that shows it
}

// When is the time of the entry.
func (e *Entry) When() time.Time {
	if !e.SubmittedAt.IsZero() {
		return e.SubmittedAt
	}
	return e.CreatedAt
}

// By is who did it.
func (e *Entry) By() *page.User {
	if e.Actor != nil {
		return e.Actor
	}
	return e.User
}

// Self reports that somebody did it to themselves.
func (e *Entry) Self() bool {
	return e.Actor != nil && (e.Assignee != nil && e.Assignee.ID == e.Actor.ID || e.Reviewer != nil &&
		e.Reviewer.ID == e.Actor.ID)
}

// Foreign is OWNER/NAME of the repository that a reference comes from, if that is another than the given one.
func (e *Entry) Foreign(here string) string {
	if e.Source == nil || e.Source.Issue == nil {
		return ""
	}
	if from := e.Source.Issue.FullName(); from != here {
		return from
	}
	return ""
}

// together is how long after each other labels are changed to stand in one line.
const together = time.Minute

// gathered leaves out what pages do not show, and joins changes of labels that somebody made at one time.
func gathered(list []*Entry) []*Entry {
	shown := make([]*Entry, 0, len(list))
	for _, e := range list {
		switch e.Event {
		case "mentioned", "subscribed", "unsubscribed":
			continue
		case "labeled", "unlabeled":
			if len(shown) > 0 && shown[len(shown)-1].joins(e) {
				continue
			}
		}
		shown = append(shown, e)
	}
	return shown
}

// joins takes the labels of an entry that follows at once, if it does.
func (e *Entry) joins(next *Entry) bool {
	if e.Event != "labeled" && e.Event != "unlabeled" || next.CreatedAt.Sub(e.CreatedAt) > together ||
		(e.Actor == nil) != (next.Actor == nil) || e.Actor != nil && e.Actor.ID != next.Actor.ID {
		return false
	}
	e.Added, e.Removed = append(e.Added, next.Added...), append(e.Removed, next.Removed...)
	return true
}

// CommitPath is the address of the page of the commit that did it, in the repository that its address names.
func (e *Entry) CommitPath() string {
	_, path, found := strings.Cut(e.CommitURL, "/repos/")
	if !found {
		return ""
	}
	return "/" + strings.Replace(path, "/commits/", "/commit/", 1)
}

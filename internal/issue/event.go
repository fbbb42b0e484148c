package issue

import (
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// EventKind is what happened to an issue.
type EventKind int64

// The kinds of events, as they are stored.
const (
	EventClosed          EventKind = 1
	EventReopened        EventKind = 2
	EventLabeled         EventKind = 3
	EventUnlabeled       EventKind = 4
	EventAssigned        EventKind = 5
	EventUnassigned      EventKind = 6
	EventMilestoned      EventKind = 7
	EventDemilestoned    EventKind = 8
	EventLocked          EventKind = 9
	EventUnlocked        EventKind = 10
	EventRenamed         EventKind = 11
	EventMentioned       EventKind = 12
	EventSubscribed      EventKind = 13
	EventUnsubscribed    EventKind = 14
	EventReferenced      EventKind = 15 // by a commit
	EventCrossReferenced EventKind = 16 // by another issue; stands in timelines only
	EventMerged          EventKind = 17
	EventCommentDeleted  EventKind = 18
	EventReviewRequested EventKind = 19 // of UserID
	EventRequestRemoved  EventKind = 20 // of UserID
	EventReviewed        EventKind = 21 // stands in timelines only
	EventReviewDismissed EventKind = 22
	EventBaseChanged     EventKind = 23 // another branch that a pull request asks to merge into
	EventPinned          EventKind = 24
	EventUnpinned        EventKind = 25
	EventTransferred     EventKind = 26 // from another repository
	EventReady           EventKind = 27 // a draft of a pull request is one no longer
	EventDrafted         EventKind = 28 // a pull request is a draft from now on
)

// String is the name that payloads have.
func (k EventKind) String() string {
	return [...]string{
		EventClosed: "closed", EventReopened: "reopened", EventLabeled: "labeled",
		EventUnlabeled: "unlabeled",
		EventAssigned:  "assigned", EventUnassigned: "unassigned", EventMilestoned: "milestoned",
		EventDemilestoned: "demilestoned", EventLocked: "locked", EventUnlocked: "unlocked",
		EventRenamed:   "renamed",
		EventMentioned: "mentioned", EventSubscribed: "subscribed", EventUnsubscribed: "unsubscribed",
		EventReferenced: "referenced", EventCrossReferenced: "cross-referenced", EventMerged: "merged",
		EventCommentDeleted: "comment_deleted", EventReviewRequested: "review_requested",
		EventRequestRemoved: "review_request_removed", EventReviewed: "reviewed",
		EventReviewDismissed: "review_dismissed",
		EventBaseChanged:     "base_ref_changed", EventPinned: "pinned", EventUnpinned: "unpinned",
		EventTransferred: "transferred",
		EventReady:       "ready_for_review", EventDrafted: "convert_to_draft",
	}[k]
}

// Event is a row of the table issue_events.
type Event struct {
	ID        int64
	RepoID    repo.ID
	IssueID   ID
	ActorID   account.ID
	Kind      EventKind
	UserID    account.ID // who was assigned, unassigned, mentioned, subscribed; 0: nobody
	SourceID  ID         // the issue that refers to this one; 0: none
	CommentID int64      // the comment of that issue which does; 0: its body
	Commit    string     // SHA; empty: none
	Detail    Detail
	CreatedAt db.Time

	milestone int64 // its number; not stored
}

// Detail is what an event tells besides, with names as they were at the time.
// It is stored as JSON.
type Detail struct {
	Label       *EventLabel `json:"label,omitempty"`
	Milestone   string      `json:"milestone,omitempty"` // title
	Rename      *Rename     `json:"rename,omitempty"`
	LockReason  string      `json:"lock_reason,omitempty"`
	StateReason string      `json:"state_reason,omitempty"`
	Review      *Review     `json:"review,omitempty"`
}

// EventLabel is a label as events show it.
type EventLabel struct {
	Name  string `json:"name"`
	Color string `json:"color"`
}

// Review is a review of a pull request as events show it.
type Review struct {
	ID      int64  `json:"id"`
	Number  int64  `json:"number"`            // of the pull request
	State   string `json:"state"`             // as it was: "approved"
	Commit  string `json:"commit,omitempty"`  // that was reviewed
	Message string `json:"message,omitempty"` // why it was dismissed
}

// Rename is a change of a title.
type Rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Decode reads what Encode wrote; nil is a Detail without anything.
func (d *Detail) Decode(stored *string) error {
	if stored == nil {
		return nil
	}
	return json.Unmarshal([]byte(*stored), d)
}

// Encode gives what the column detail holds.
func (d *Detail) Encode() (any, error) {
	if *d == (Detail{}) {
		return nil, nil
	}
	b, err := json.Marshal(d)
	return string(b), err
}

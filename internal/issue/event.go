package issue

import (
	"encoding/json"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/team"
)

// EventKind is the kind of an issue event.
type EventKind int64

// Kinds of events as stored.
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
	EventCrossReferenced EventKind = 16 // by another issue; only in timelines
	EventMerged          EventKind = 17
	EventCommentDeleted  EventKind = 18
	EventReviewRequested EventKind = 19 // from UserID
	EventRequestRemoved  EventKind = 20 // from UserID
	EventReviewed        EventKind = 21 // only in timelines
	EventReviewDismissed EventKind = 22
	EventBaseChanged     EventKind = 23 // the base branch of a pull request
	EventPinned          EventKind = 24
	EventUnpinned        EventKind = 25
	EventTransferred     EventKind = 26 // from another repository
	EventReady           EventKind = 27 // a draft became ready for review
	EventDrafted         EventKind = 28 // a pull request became a draft

	// Auto-merge was enabled, by each method, and disabled.
	EventAutoMerge         EventKind = 40
	EventAutoSquash        EventKind = 41
	EventAutoRebase        EventKind = 42
	EventAutoMergeDisabled EventKind = 43

	EventEnqueued EventKind = 44 // a pull request joined a merge queue
	EventDequeued EventKind = 45 // it left the queue
)

// String returns the name used in payloads.
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
		EventAutoMerge: "auto_merge_enabled", EventAutoSquash: "auto_squash_enabled",
		EventAutoRebase: "auto_rebase_enabled", EventAutoMergeDisabled: "auto_merge_disabled",
		EventEnqueued: "added_to_merge_queue", EventDequeued: "removed_from_merge_queue",
	}[k]
}

// Event is a row of table issue_events.
type Event struct {
	ID        int64
	RepoID    repo.ID
	IssueID   ID
	ActorID   account.ID
	Kind      EventKind
	UserID    account.ID // the assigned, mentioned or subscribed user; 0: none
	SourceID  ID         // the referring issue; 0: none
	CommentID int64      // the referring comment of SourceID; 0: its body
	Commit    string     // SHA; empty: none
	Detail    Detail
	CreatedAt db.Time

	milestone int64 // its number; not stored
}

// Detail holds more data of an event, with names as they were at the time. It is stored as JSON.
type Detail struct {
	Label       *EventLabel `json:"label,omitempty"`
	Milestone   string      `json:"milestone,omitempty"` // title
	Rename      *Rename     `json:"rename,omitempty"`
	LockReason  string      `json:"lock_reason,omitempty"`
	StateReason string      `json:"state_reason,omitempty"`
	Review      *Review     `json:"review,omitempty"`
	Team        team.ID     `json:"team,omitempty"`   // whose review is requested, in place of a user's
	Reason      string      `json:"reason,omitempty"` // why auto-merge was disabled, or a merge queue left
}

// EventLabel is a label in an event.
type EventLabel struct {
	Name  string `json:"name"`
	Color string `json:"color"`
}

// Review is a review in an event.
type Review struct {
	ID      int64  `json:"id"`
	Number  int64  `json:"number"`            // of the pull request
	State   string `json:"state"`             // state at the time, such as "approved"
	Commit  string `json:"commit,omitempty"`  // the reviewed commit
	Message string `json:"message,omitempty"` // reason for dismissal
}

// Rename is a change of title.
type Rename struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Decode reads the result of Encode. nil is an empty Detail.
func (d *Detail) Decode(stored *string) error {
	if stored == nil {
		return nil
	}
	return json.Unmarshal([]byte(*stored), d)
}

// Encode returns the value of the column detail.
func (d *Detail) Encode() (any, error) {
	if *d == (Detail{}) {
		return nil, nil
	}
	b, err := json.Marshal(d)
	return string(b), err
}

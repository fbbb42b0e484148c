// Package issue is the issue tracker: issues and what they refer to. Pull
// requests are issues too; package pull adds what they have besides.
//
//	issue.go                 the types
//	create.go, change.go     how an issue is made and changed, with all that follows; edit.go: several fields of it
//	view.go                  an issue with what it refers to, for pages
//	involve.go, body.go      who has a part in an issue by a change; its text
//	rules.go                 who may edit and be assigned, which milestone an issue can have
//	api.go, answer.go        the handlers of single issues; render.go, member.go: their JSON
//	list.go, listacross.go   lists, of one repository and of many; package finder finds the issues
//	find.go                  a page of what one query finds, or of what each of several does
//	page.go, load.go         what the issues of a page refer to
//	brief.go                 what a page's line shows of an issue
//	assignee.go, label.go, lock.go, reaction.go   the handlers of each
//	pin.go                   issues that stand first in their repository
//	departure.go             issues that are deleted, or transferred to another repository
//	association.go           how authors stand to a repository
//	posting.go               what an issue is found by; package posting is that index
//	event.go                 what is noted of changes
//	reference.go             issues that name other issues
//	store*.go                the SQL; storeaccount.go: an account goes, or a repository's owner
//
// Beside it, a package each:
//
//	text           the texts of issues and comments, and to what they link
//	comment        comments
//	timeline       lists of events, and timelines
//	subscription   who is told of an issue
//	deletion       labels and milestones are deleted, and taken off their issues
//
// Tables: issues, issue_events, departed_issues; and of repos next_number and open_issues.
//
// Invariants: numbers have no gaps (decision 31): the number is taken from the
// repository's row in the transaction that inserts the issue. That of an issue that
// is deleted or transferred is not used again. Change alone changes an issue's row, so postings and counters
// follow it always; package deletion changes many at once and moves them itself. Each transaction that
// changes what a payload of issues shows calls tracker.Lock first. Ids are looked up within their repository.
//
// A row of issues holds everything that a list shows, also the ids of labels and assignees. A label
// that is deleted leaves its id in rows, where it names nothing; what many issues hold is taken off
// them later, some at a time. The number of statements of a list does not depend on its length.
//
// A body is parsed before the transaction; whom it mentions and which issues it names is looked up
// inside.
package issue

import (
	"context"
	"log/slog"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/issue/text"
	"arbor/internal/repo"
	"arbor/internal/tracker"
)

// Resource is the name of issues in validation errors (decision 15).
const Resource = "Issue"

// State is open or closed.
type State = tracker.State

// The states.
const (
	Open   = tracker.Open
	Closed = tracker.Closed
)

// Reason says why an issue has its state.
type Reason uint8

// The reasons, as they are stored.
const (
	NoReason Reason = iota
	Completed
	NotPlanned
	Reopened
	Duplicate
)

var reasons = [...]string{NoReason: "", Completed: "completed", NotPlanned: "not_planned",
	Reopened:  "reopened",
	Duplicate: "duplicate"}

// String gives the name that payloads have as state_reason; empty for NoReason.
func (r Reason) String() string { return reasons[r] }

// orNil gives the name; nil of NoReason.
func (r Reason) orNil() *string {
	if r == NoReason {
		return nil
	}
	return &reasons[r]
}

// ID is the id of an issue, which a pull request shares with its issue.
type ID int64

// Issue is a row of the table issues.
type Issue struct {
	ID          ID
	RepoID      repo.ID
	Number      int64 // within the repository, from 1
	Pull        bool  // it is a pull request
	Title       string
	Body        *string // nil: none (decision 19)
	AuthorID    account.ID
	State       State
	StateReason Reason
	Locked      bool
	LockReason  *string      // nil: none was given
	MilestoneID int64        // 0: none
	Labels      []int64      // ids; those of labels that were deleted since name nothing
	Assignees   []account.ID // ids, in the order of assignment
	Comments    int64        // their number
	Reacted     bool         // there are or were reactions
	CreatedAt   db.Time
	UpdatedAt   db.Time
	ClosedAt    db.Time    // zero: open
	ClosedBy    account.ID // 0: open, or closed by nobody in particular
	Draft       bool       // of a pull request: not ready
	MergedAt    db.Time    // of a pull request; zero: it is not merged
	PinnedAt    db.Time    // zero: it is not pinned
	PinnedBy    account.ID // 0: it is not pinned
}

// Limits of decision 19, in code points and numbers of entries.
const (
	MaxTitle     = 256
	MaxBody      = 65_536
	MaxLabels    = 100
	MaxAssignees = 10
)

// Forge is what issues have in common with features above this package. Package
// forge implements it.
type Forge interface {
	// WriteIssue writes an issue that a transaction made or changed.
	WriteIssue(c *Change) error
	// LoseIssue takes an issue that is deleted or transferred out of its repository.
	LoseIssue(d *Departure) error
	// ReopenPull checks, before the transaction, whether a closed pull request may be
	// opened again; what it returns is called in the transaction. Error: 422.
	ReopenPull(ctx context.Context, a *repo.Access, i *Issue) (func(*Change) error, error)
}

// Service holds what the operations on issues share.
type Service struct {
	db    *db.DB
	repos *repo.Service
	log   *slog.Logger
	forge Forge

	texts   *text.Renderer
	answers *tracker.Answers // to requests
}

// answerBytes bounds the rendered answers that are kept in memory.
const answerBytes = 48 << 20

// New makes the service.
func New(d *db.DB, repos *repo.Service, log *slog.Logger, forge Forge) *Service {
	return &Service{db: d, repos: repos, log: log, forge: forge, texts: text.New(d, repos),
		answers: tracker.NewAnswers(d, answerBytes)}
}

// joinIDs writes ids as a column holds them.
func joinIDs[ID ~int64](ids []ID) string {
	b := make([]byte, 0, 8*len(ids))
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(id), 10)
	}
	return string(b)
}

// splitIDs reads what joinIDs wrote.
func splitIDs[ID ~int64](s string) []ID {
	if s == "" {
		return nil
	}
	ids := make([]ID, 0, strings.Count(s, ",")+1)
	for part := range strings.SplitSeq(s, ",") {
		id, _ := strconv.ParseInt(part, 10, 64)
		ids = append(ids, ID(id))
	}
	return ids
}

// wrong is the 422 for one field of an issue.
func wrong(field, code string, value any) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: code, Value: value})
}

// Answers are those that are kept, of all requests about issues and what hangs on them.
func (s *Service) Answers() *tracker.Answers { return s.answers }

// Caches tells of the caches.
func (s *Service) Caches() []cache.Stats {
	return []cache.Stats{s.texts.Stats(), s.answers.Stats("issue_answers")}
}

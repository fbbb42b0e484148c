// Package issue implements issues. A pull request is an issue, too; package pull adds its other fields.
//
//	issue.go                 the types
//	create.go, change.go     creating and changing issues, with all effects; edit.go: updates of several fields
//	view.go                  an issue and everything that it refers to, for pages and GraphQL
//	involve.go, body.go      participants and mentions; the text of an issue
//	rules.go                 rights to edit, valid assignees and milestones
//	api.go, answer.go        the handlers of single issues; render.go, member.go: their JSON
//	list.go, listacross.go   lists, of one repository and of many; package posting finds the issues
//	find.go                  the results of one query, or of several
//	page.go, load.go         everything that the issues of a page refer to
//	brief.go                 the short form in lists on pages
//	assignee.go, label.go, lock.go, reaction.go   the handlers of each
//	pin.go                   pinned issues
//	departure.go             deleting and transferring issues
//	association.go           author associations
//	posting.go               the properties of issues in the index; package posting has the index
//	event.go                 issue events
//	reference.go             references to other issues
//	store*.go                the SQL; storeaccount.go: deleted accounts; storeloss.go: assignees who lost access
//
// Related packages:
//
//	text           the texts of issues and comments, and their links
//	comment        comments
//	timeline       lists of events and timelines
//	subscription   subscriptions to issues
//	deletion       deleting labels, milestones and the rows of repositories
//
// Tables: issues, issue_events, departed_issues; columns next_number and open_issues of repos.
//
// Invariants: Numbers have no gaps (decision 31): a number is taken from the repository's row in the
// transaction that inserts the issue. Numbers of deleted and transferred issues are not reused. Only Change
// changes an issue's row, so that postings and counters always match; package deletion and storeloss.go change many
// rows at once and update these themselves. Each transaction that changes an issue's JSON calls issuekit.Lock first.
// Ids are looked up within their repository.
//
// A row of issues has everything that a list shows, including the ids of labels and assignees. A deleted
// label leaves its id in rows, where it is ignored; ids in many rows are removed later in batches. The
// number of statements of a list does not depend on its length.
//
// A body is parsed before the transaction. The users and issues that it mentions are looked up within it.
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
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// Resource is the name of issues in validation errors (decision 15).
const Resource = "Issue"

// State is open or closed.
type State = issuekit.State

// States.
const (
	Open   = issuekit.Open
	Closed = issuekit.Closed
)

// Reason is the reason for an issue's state.
type Reason uint8

// Reasons as stored.
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

// String returns the value of state_reason in payloads, or "" for NoReason.
func (r Reason) String() string { return reasons[r] }

// orNil returns the name, or nil for NoReason.
func (r Reason) orNil() *string {
	if r == NoReason {
		return nil
	}
	return &reasons[r]
}

// ID is the id of an issue. A pull request has the id of its issue.
type ID int64

// Issue is a row of table issues.
type Issue struct {
	ID          ID
	RepoID      repo.ID
	Number      int64 // within the repository, starting at 1
	Pull        bool  // is a pull request
	Title       string
	Body        *string // nil: empty (decision 19)
	AuthorID    account.ID
	State       State
	StateReason Reason
	Locked      bool
	LockReason  *string      // nil: none was given
	MilestoneID int64        // 0: none
	Labels      []int64      // ids; those of deleted labels are ignored
	Assignees   []account.ID // ids, in the order of assignment
	Comments    int64        // number of comments
	Reacted     bool         // has or had reactions
	CreatedAt   db.Time
	UpdatedAt   db.Time
	ClosedAt    db.Time    // zero if open
	ClosedBy    account.ID // 0 if open or if the account is unknown
	Draft       bool       // of a pull request
	MergedAt    db.Time    // zero unless a merged pull request
	PinnedAt    db.Time    // zero unless pinned
	PinnedBy    account.ID // 0 unless pinned
}

// Limits of decision 19: code points, and numbers of entries.
const (
	MaxTitle     = 256
	MaxBody      = 65_536
	MaxLabels    = 100
	MaxAssignees = 10
)

// Forge holds the steps of a change in features above this package. Package forge implements it.
type Forge interface {
	// WriteIssue writes an issue that a transaction created or changed.
	WriteIssue(c *Change) error
	// LoseIssue removes an issue that is deleted or transferred.
	LoseIssue(d *Departure) error
	// ReopenPull checks before the transaction whether a closed pull request can be reopened. The result is
	// called in the transaction. Error: 422.
	ReopenPull(ctx context.Context, a *repo.Access, i *Issue) (func(*Change) error, error)
}

// Service implements the operations on issues.
type Service struct {
	db    *db.DB
	repos *repo.Service
	log   *slog.Logger
	forge Forge

	texts   *text.Renderer
	answers *repo.Answers
}

// answerBytes is the size of the cache of rendered responses.
const answerBytes = 48 << 20

// New returns a Service.
func New(d *db.DB, repos *repo.Service, log *slog.Logger, forge Forge) *Service {
	return &Service{db: d, repos: repos, log: log, forge: forge, texts: text.New(d, repos),
		answers: repo.NewAnswers(answerBytes)}
}

// Texts returns the renderer of texts.
func (s *Service) Texts() *text.Renderer { return s.texts }

// joinIDs returns ids in the form of a column.
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

// splitIDs parses the result of joinIDs.
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

// wrong returns the 422 for one field of an issue.
func wrong(field, code string, value any) error {
	return errs.Validation(errs.Field{Resource: Resource, Field: field, Code: code, Value: value})
}

// Answers returns the cache of responses of all issue endpoints.
func (s *Service) Answers() *repo.Answers { return s.answers }

// Caches returns statistics of the caches.
func (s *Service) Caches() []cache.Stats {
	return []cache.Stats{s.texts.Stats(), s.answers.Stats("issue_answers")}
}

// Package review is what people say of pull requests: reviews, and comments on
// lines of what they change.
//
//	review.go               the types, and who may do what
//	submit.go               how reviews are made, submitted, dismissed
//	comment.go              how comments are made and changed
//	patch.go                lines of a patch: which there are, and where they went
//	anchor.go               what a comment stands at, held against the diff
//	follow.go               where that is now that the head has moved
//	thread.go               comments by their threads, and which are resolved; apithread.go: for GraphQL and pages
//	progress.go             files that were viewed, and how far a review has come
//	marks.go                what lists show of reviews and checks
//	view.go                 comments with what they refer to, for pages
//	store*.go               the SQL
//	api*.go, input.go       the handlers; json.go their payloads
//
// Tables: reviews, review_comments, resolved_threads, viewed_files; of pulls review_comments. Who is asked
// for a review is package pull's.
//
// Invariants: each comment belongs to a review; one that was made alone has a
// review of its own, which goes with it. A pending review and its comments are
// seen by their author alone, who has at most one for each pull request. What
// follows from a review (updated_at, mentions, counters, events) follows when it
// is submitted. All other changes go through issue.Service.Change. A comment's place is
// stored with the commit that it was written on.
package review

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

// Names of reviews and their comments in validation errors (decision 15).
const (
	Resource        = "PullRequestReview"
	CommentResource = "PullRequestReviewComment"
)

// State is what a review says.
type State uint8

// The states, as they are stored.
const (
	Pending          State = 1
	Commented        State = 2
	Approved         State = 3
	ChangesRequested State = 4
	Dismissed        State = 5
)

var stateNames = [...]string{Pending: "PENDING", Commented: "COMMENTED", Approved: "APPROVED",
	ChangesRequested: "CHANGES_REQUESTED", Dismissed: "DISMISSED"}

// String gives the name in payloads.
func (s State) String() string { return stateNames[s] }

// eventNames are the names of the states in timelines.
var eventNames = [...]string{Pending: "pending", Commented: "commented", Approved: "approved",
	ChangesRequested: "changes_requested", Dismissed: "dismissed"}

// Review is a row of the table reviews.
type Review struct {
	ID          int64
	RepoID      repo.ID
	IssueID     issue.ID
	AuthorID    account.ID
	State       State
	Body        string  // perhaps empty
	Commit      git.SHA // what was reviewed
	SubmittedAt db.Time // zero: pending
}

// Comment is a row of the table review_comments, with what its payload shows of
// its pull request.
type Comment struct {
	ID       int64
	RepoID   repo.ID
	IssueID  issue.ID
	ReviewID int64
	AuthorID account.ID
	Pending  bool
	ReplyTo  int64 // the first comment of the thread; 0: it is that
	Body     string
	Reacted  bool   // there are or were reactions
	Anchor          // what was said of which commit
	Hunk     string // of the diff, up to the line
	Now      spot   // where it is in Current
	Current  git.SHA

	CreatedAt db.Time
	UpdatedAt db.Time

	Number  int64 // of the pull request
	BaseSHA git.SHA
	HeadSHA git.SHA
	Locked  bool // so is the conversation
}

// Outdated tells that the line is no longer in what the pull request changes.
func (c *Comment) Outdated() bool { return c.Now.Position == 0 }

// Service holds what the operations on reviews share.
type Service struct {
	db     *db.DB
	repos  *repo.Service
	issues *issue.Service
	pulls  *pull.Service
}

// New makes the service.
func New(d *db.DB, repos *repo.Service, issues *issue.Service, pulls *pull.Service) *Service {
	return &Service{db: d, repos: repos, issues: issues, pulls: pulls}
}

// mayWrite returns the 403 for who may not write in a locked conversation
// (decision 34).
func mayWrite(a *repo.Access, locked bool) error {
	if locked && a.Role < account.Push {
		return errs.New(errs.Forbidden, "The conversation is locked: must have push access to Repository.")
	}
	return nil
}

// mayEdit returns the 403 for who may neither edit nor delete what the author
// wrote: that author and those with push access may.
func mayEdit(a *repo.Access, authorID account.ID, locked bool) error {
	if a.Role < account.Push && account.IDOf(a.Caller) != authorID {
		return errs.New(errs.Forbidden,
			"Must be the author of the comment or have push access to Repository.")
	}
	return mayWrite(a, locked)
}

// refuse is the 422 of a review that cannot be.
func refuse(message string) error {
	return errs.Validation(errs.Field{Resource: Resource, Code: errs.Custom, Message: message})
}

// custom is the 422 for one field of a comment.
func custom(field, message string) error {
	return errs.Validation(errs.Field{Resource: CommentResource, Field: field, Code: errs.Custom,
		Message: message})
}

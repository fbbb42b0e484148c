// Package review implements reviews of pull requests and comments on changed lines.
//
//	review.go               the types and the rights
//	submit.go               how reviews are made, submitted, dismissed
//	comment.go              how comments are made and changed
//	patch.go                lines of a patch: which there are, and where they went
//	anchor.go               positions of comments in the diff
//	follow.go               where that is now that the head has moved
//	thread.go               comments by their threads, and which are resolved; apithread.go: for GraphQL and pages
//	progress.go             files that were viewed, and how far a review has come
//	marks.go                what lists show of reviews and checks
//	view.go                 comments with what they refer to, for pages
//	store*.go               the SQL
//	api*.go, input.go       the handlers; json.go their payloads
//
// Tables: reviews, review_comments, resolved_threads, viewed_files, and the column review_comments of
// pulls. Package pull has the review requests.
//
// Invariants: Each comment belongs to a review. A comment made without a review gets a review of its own,
// which is deleted with it. A pending review and its comments are visible only to their author, who has at
// most one for each pull request. The effects of a review (updated_at, mentions, counters, events) occur
// when it is submitted. All changes go through issue.Service.Change. The position of a comment is stored
// with the commit that it refers to.
package review

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/issuekit"
	"arbor/internal/pull"
	"arbor/internal/repo"
)

// Resource names in validation errors (decision 15).
const (
	Resource        = "PullRequestReview"
	CommentResource = "PullRequestReviewComment"
)

// State is the state of a review.
type State uint8

// States as stored.
const (
	Pending          State = 1
	Commented        State = 2
	Approved         State = 3
	ChangesRequested State = 4
	Dismissed        State = 5
)

var stateNames = [...]string{Pending: "PENDING", Commented: "COMMENTED", Approved: "APPROVED",
	ChangesRequested: "CHANGES_REQUESTED", Dismissed: "DISMISSED"}

// String returns the name used in payloads.
func (s State) String() string { return stateNames[s] }

// eventNames are the names of the states in timelines.
var eventNames = [...]string{Pending: "pending", Commented: "commented", Approved: "approved",
	ChangesRequested: "changes_requested", Dismissed: "dismissed"}

// Review is a row of table reviews.
type Review struct {
	ID          int64
	RepoID      repo.ID
	IssueID     issue.ID
	AuthorID    account.ID
	State       State
	Body        string  // may be empty
	Commit      git.SHA // the reviewed commit
	SubmittedAt db.Time // zero while pending
	Hidden      issuekit.Hidden
}

// Comment is a row of table review_comments, with the fields of its pull request that payloads show.
type Comment struct {
	ID       int64
	RepoID   repo.ID
	IssueID  issue.ID
	ReviewID int64
	AuthorID account.ID
	Pending  bool
	ReplyTo  int64 // first comment of the thread; 0 for that comment itself
	Body     string
	Reacted  bool // has or had reactions
	Hidden   issuekit.Hidden
	Anchor          // as first written
	Hunk     string // diff hunk up to the commented line
	Now      spot   // position in Current
	Current  git.SHA

	CreatedAt db.Time
	UpdatedAt db.Time

	Number  int64 // of the pull request
	BaseSHA git.SHA
	HeadSHA git.SHA
	Locked  bool // the conversation is locked
}

// Outdated reports whether the line is no longer part of the pull request's changes.
func (c *Comment) Outdated() bool { return c.Now.Position == 0 }

// Service implements the operations on reviews.
type Service struct {
	db     *db.DB
	repos  *repo.Service
	issues *issue.Service
	pulls  *pull.Service
}

// New returns a Service.
func New(d *db.DB, repos *repo.Service, issues *issue.Service, pulls *pull.Service) *Service {
	return &Service{db: d, repos: repos, issues: issues, pulls: pulls}
}

// mayWrite returns 403 if the conversation is locked and the caller has no push access (decision 34).
func mayWrite(a *repo.Access, locked bool) error {
	if locked && a.Role < account.Push {
		return errs.New(errs.Forbidden, "The conversation is locked: must have push access to Repository.")
	}
	return nil
}

// mayEdit returns 403 unless the caller is the author or has push access.
func mayEdit(a *repo.Access, authorID account.ID, locked bool) error {
	if a.Role < account.Push && account.IDOf(a.Caller) != authorID {
		return errs.New(errs.Forbidden,
			"Must be the author of the comment or have push access to Repository.")
	}
	return mayWrite(a, locked)
}

// refuse returns the 422 of an invalid review.
func refuse(message string) error {
	return errs.Validation(errs.Field{Resource: Resource, Code: errs.Custom, Message: message})
}

// custom returns the 422 for one field of a comment.
func custom(field, message string) error {
	return errs.Validation(errs.Field{Resource: CommentResource, Field: field, Code: errs.Custom,
		Message: message})
}

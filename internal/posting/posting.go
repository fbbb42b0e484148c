// Package posting is the index of issues, and the query that reads it. Lists of issues and of pull requests,
// lists across repositories and searches all compile to one [Query].
//
//	posting.go         properties
//	store.go           the SQL of changes
//	query.go           the query: repositories, a tree of conditions, an order
//	tree.go            simplifying a tree, and the tree of one repository
//	plan.go            which executor runs a query
//	ranges.go          walks ranges of the postings, of a few repositories
//	scan.go            one statement, for words and for many repositories
//	each.go            many queries at a time
//	storecondition.go  from a tree to SQL
//	storepull.go       conditions on pull requests, their reviews and statuses
//	storerepo.go       conditions on repositories
//	storeranges.go, storescan.go, storenames.go   the statements
//
// Tables: postings, posting_counts. Queries also read issues, issue_comments, labels, milestones, pulls, reviews,
// requested_reviewers, requested_teams, teams, team_members, status_commits, repos, and the index of package fulltext.
//
// A posting says that an issue has a property. Each property of a repository and state is a range in three
// orders: creation (ids grow), update, comments. The counters next to them hold the length of each range.
// Package issue updates both with its rows.
//
// A filter is one or several ranges of the postings, merged for the page; of several required properties, the
// one with the fewest issues is walked and the others are looked up. The counters give totals and choose the
// range. Words, and repositories too many to be named, are one statement. Tests hold both executors against a
// naive one, on random data and trees.
package posting

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/issuekit"
	"arbor/internal/repo"
)

// Kind is a kind of property that issues are found by.
type Kind int64

// The kinds of properties, as they are stored, and what their values are.
const (
	ByAll        Kind = 1  // 0: every issue has it
	ByAuthor     Kind = 2  // an account's id
	ByAssignee   Kind = 3  // an account's id, None or Any
	ByMilestone  Kind = 4  // a milestone's id, None or Any
	ByLabel      Kind = 5  // a label's id, or None
	ByMention    Kind = 6  // the id of an account that the issue or a comment mentions
	BySubscriber Kind = 7  // the id of an account that is subscribed (decision 14)
	ByPull       Kind = 8  // 0: it is a pull request
	ByBranch     Kind = 10 // the id of a branch that package pull lists by
	ByTeam       Kind = 11 // the id of a team that the issue or a comment mentions
	OfComments   Kind = 9  // no property: counts the comments in a repository
)

// Values that are not ids.
const (
	None int64 = 0
	Any  int64 = -1
)

// Property is what a posting says of its issue.
type Property struct {
	Kind  Kind
	Value int64
}

// Of is the property of that kind with a value.
func (k Kind) Of(value int64) Property { return Property{k, value} }

// OfUser is the property of that kind with an account.
func (k Kind) OfUser(id account.ID) Property { return Property{k, int64(id)} }

// Row is what the postings of an issue hold of it.
type Row struct {
	IssueID   int64
	RepoID    repo.ID
	State     issuekit.State
	UpdatedAt db.Time
	Comments  int64
}

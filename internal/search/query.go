// Package search finds issues and pull requests by GitHub's language of queries.
//
//	GET /search/issues
//
//	query.go      what a query asks for
//	fields.go     qualifiers and the fields that they are, for reading and writing
//	parse.go      from text to words, qualifiers and groups, and what is refused
//	parseword.go  one word, one name of a qualifier, its values
//	parsefield.go from qualifiers to a query
//	resolve.go    users, repositories and other things that a query names, if the caller may see them
//	compile.go    from a query to that of package posting
//	storescope.go the repositories that are searched
//	search.go     searching
//	indexer.go    the worker that keeps the index of words up to date, and who waits for it
//	store.go      the notes about texts that changed; storenames.go those about names
//	storelinks.go what pull requests say that they fix
//	api.go        the handler and its JSON; each.go: several searches at once, for the home page
//
// The searches of repositories, users, commits and code have rooms of their own below this one, and share:
//
//	term.go       their language, without alternatives
//	answer.go     from a request to an answer
//	conditions.go from terms to SQL
//	tip.go        which repositories are read, and for how long
//	fragment.go   what matched
//
// Tables: pull_fixes; texts_changed and names_changed, into which writers note each text that they change; the
// full-text index itself is package fulltext's. Only what is in the repositories that
// the caller may see is counted (decision 13).
//
// The worker that indexes is rung by commits, and looks for what other processes changed. Who
// searches only reads, and waits for the worker to reach what was acknowledged before, five seconds
// at most; then the answer says that it is incomplete. A word for the repository keeps a search
// within it inside the index.
package search

import (
	"math"

	"arbor/internal/fulltext"
)

// Query is a parsed search: all of its conditions must match. The zero Query matches every issue.
type Query struct {
	Words    []string      // words and phrases in the text
	NotWords []string      // and those that must not
	In       fulltext.Part // where; none: everywhere

	// An issue has one of each of these, and needs one of Yes.
	Repos      Choice // OWNER/NAME
	Owners     Choice // logins of the repository's owner
	Authors    Choice // logins
	Milestones Choice // titles
	Heads      Choice // head branches of pull requests, by prefix
	Bases      Choice // base branches of pull requests
	Reasons    Choice // why it was closed or opened again

	// An issue may have many of these, and needs all of Yes. Logins may be Me.
	Assignees  Choice
	Mentioned  Choice
	Commenters Choice
	Involved   Choice // authors, assignees, mentioned or commenters
	Reviewers  Choice // who submitted a review
	Requested  Choice // requested reviewers, also as members of requested teams
	Asked      Choice // requested reviewers, by themselves
	Teams      Choice // requested teams: ORG/SLUG

	TeamsMentioned Choice // the same of mentioned teams
	Reviews        Choice // combined reviews
	Statuses       Choice // combined statuses of the head
	Linked         Choice // linked to: pr or issue
	Labels         []LabelSet

	Open, Pull, Merged, Draft, Locked Flag
	Public, Archived                  Flag // of the repository
	Labeled, Assigned, Milestoned     Flag // it has any

	// Times are microseconds since 1970.
	Created, Updated, Closed, MergedAt Spans
	Comments                           Spans // how many

	Groups []Group

	Sort Sort // of the whole; groups have none
}

// Group matches one of several queries, or excludes all of them.
type Group struct {
	Not bool
	Any []*Query
}

// depth returns the nesting depth of groups.
func (q *Query) depth() (deepest int) {
	for _, g := range q.Groups {
		for _, in := range g.Any {
			deepest = max(deepest, 1+in.depth())
		}
	}
	return deepest
}

// each calls fn with the query and those of its groups; wanted is false if something is excluded.
func (q *Query) each(wanted bool, fn func(q *Query, wanted bool)) {
	fn(q, wanted)
	for _, g := range q.Groups {
		for _, in := range g.Any {
			in.each(wanted && !g.Not, fn)
		}
	}
}

// hasWords reports whether the query needs the word index.
func (q *Query) hasWords() (has bool) {
	q.each(true, func(q *Query, _ bool) { has = has || len(q.Words)+len(q.NotWords) > 0 })
	return has
}

// asksIndex reports whether the query needs the worker's indexes: words or links.
func (q *Query) asksIndex() (asks bool) {
	q.each(true, func(q *Query, _ bool) { asks = asks || len(q.Linked.Yes)+len(q.Linked.No) > 0 })
	return asks || q.hasWords()
}

// Me stands for the caller's login.
const Me = "@me"

// Choice holds the required and the excluded values; none of No may match.
type Choice struct{ Yes, No []string }

// LabelSet matches one of the labels, or excludes all of them.
type LabelSet struct {
	Names []string
	Not   bool
}

// Flag is a set of values of a boolean. Empty: any; both: nothing can match.
type Flag uint8

// The answers.
const (
	Yes Flag = 1 << iota
	No
)

// Span is what lies from From up to but not including To; the ends of int64 are
// no bounds.
type Span struct{ From, To int64 }

// Always matches every value.
func Always() Span { return Span{math.MinInt64, math.MaxInt64} }

// Spans matches one of some spans, if any, and none of others.
type Spans struct {
	Asked bool
	In    Span
	Not   []Span
}

// Sort is the order of the results.
type Sort struct {
	By  By
	Asc bool
}

// By is what results are ordered by.
type By uint8

// The orders. BestMatch is by score, and by creation where there is none.
const (
	BestMatch By = iota
	Created
	Updated
	Comments
)

// ParseBy parses the result of String.
func ParseBy(s string) (By, bool) {
	for by := BestMatch; by <= Comments; by++ {
		if by.String() == s {
			return by, true
		}
	}
	return 0, false
}

// String returns best-match, created, updated or comments.
func (b By) String() string {
	return [...]string{BestMatch: "best-match", Created: "created", Updated: "updated",
		Comments: "comments"}[b]
}

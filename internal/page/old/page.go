// Package old shows people what html_url leads to, small and readable.
//
//   - GET /{owner}/{repo}: repo.go, readme.go
//   - .../issues, /issues/{number}, /pulls, /milestone/{number}: issue.go
//   - .../pull/{file}: pull.go
//   - .../commit/{sha}, /compare/{basehead...}: commit.go
//   - .../tree/{path...}, /blob/{path...}: file.go
//   - ask.go, payload.go: what pages ask the API, and what they read of it
//   - render.go: templates, headers and the HTML form of an error
//
// What hangs on a repository is a template over what the API answers the same
// caller: a page can show nothing that the API would not.
//
// A page of a repository follows its caller's token, which no browser sends by
// itself: without one it shows what is public and nothing else; what is not
// looks like what is not there (decision 13). Pages run no script, load
// nothing from elsewhere, and every text in them was escaped by html/template, but
// for bodies that package markdown has sanitized.
package old

import (
	"time"

	"arbor/internal/checkrun"
	"arbor/internal/commitcomment"
	"arbor/internal/db"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/pull"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// Pages answers the pages.
type Pages struct {
	db     *db.DB
	repos  *repo.Service
	from   Sources
	render *renderer
}

// Sources are the parts of the API whose answers pages show.
type Sources struct {
	Issues     *issue.API
	Comments   *comment.API
	Milestones *milestone.API
	Pulls      *pull.API
	Reviews    *review.API
	Git        *gitdata.API
	Releases   *release.API
	OnCommits  *commitcomment.API
	Checks     *checkrun.API
}

// New makes the pages of a database, its repositories and what hangs on them.
func New(d *db.DB, repos *repo.Service, from Sources) *Pages {
	return &Pages{db: d, repos: repos, from: from, render: newRenderer()}
}

// webAddress is an address that people gave, when it is one that a browser may safely follow.
func webAddress(text *string) string { return page.WebAddress(or(text, "")) }

// or returns the text, or other where it is absent or empty.
func or(text *string, other string) string {
	if text == nil || *text == "" {
		return other
	}
	return *text
}

// stamp and day write a time for machines and for people; empty when absent.
func stamp(t db.Time) string { return format(t, time.RFC3339) }

func day(t db.Time) string { return format(t, "2 January 2006") }

func format(t db.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.Time().UTC().Format(layout)
}

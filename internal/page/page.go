// Package page shows people what html_url leads to: a user or an organization
// with its public repositories, and a repository with its branches and tags.
//
//   - GET /{owner}: owner.go
//   - GET /{owner}/{repo}: repo.go
//   - render.go: templates, headers and the HTML form of an error
//   - store.go: the SQL
//
// A page of a repository follows its caller's token, which no browser sends by
// itself: without one it shows what is public and nothing else; what is not
// looks like what is not there (decision 13). Pages run no script, load
// nothing from elsewhere, and every text in them was escaped by html/template.
package page

import (
	"time"

	"arbor/internal/db"
	"arbor/internal/repo"
)

// Pages answers the pages.
type Pages struct {
	db     *db.DB
	repos  *repo.Service
	render *renderer
}

// New makes the pages of a database and its repositories.
func New(d *db.DB, repos *repo.Service) *Pages {
	return &Pages{db: d, repos: repos, render: newRenderer()}
}

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

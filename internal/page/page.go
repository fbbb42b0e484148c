// Package page implements what all pages for browsers share. The pages of a feature are in a package below it:
//
//   - signin: the home page, signing in, the first visit to an empty server
//   - code: a repository's home, its files, commits, branches and comparisons; editing; diff: changed files
//   - issue: issues, labels, milestones; pull: pull requests; settings, reposettings, webhook; site: the
//     site administrators' pages
//   - talk: conversations; listing: lists with a search box; both for issues and for pull requests
//   - people: profiles, organizations; project: new repositories, forks, stars, watchers
//   - explore: overviews and searches; inbox: notifications; shelf: the plant store; help
//   - releases: releases and their files; attach: attachments; checks: statuses and checks of commits
//
// Files of this package:
//
//   - route.go: the rights of pages; errors.go: errors as pages
//   - write.go: the steps before a change
//   - frame.go: the frame of a page: the viewer, the repository, the tab
//   - done.go: the message that the next page shows once after a form
//   - form.go: forms and their errors; kept.go: a form sent after the session has ended; confirm.go: one that is
//     sent on once its sender has confirmed who it is
//   - shown.go: concurrent changes of a form's fields
//   - render.go: templates, headers, ETags
//   - assets.go, assets/: the stylesheet and the script
//   - zone.go: times, in the reader's time zone
//   - payload.go, view.go, viewgit.go, format.go: what templates show of the features' values
//
// A page calls the same operations as the API's handlers, with the access that its route has checked. So it
// can show and change only what the API can, and pages contain neither rules nor SQL. Pages work without the
// script and load nothing from other sites. html/template escapes all texts in them except bodies that package
// markdown has sanitized.
//
// The caller of a page is identified by a session cookie, or by a token as for the API. Unsafe requests must
// come from the site's own pages.
package page

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/account/session"
	"arbor/internal/highlight"
	"arbor/internal/hook"
	"arbor/internal/issue"
	"arbor/internal/markup"
	"arbor/internal/notification"
	"arbor/internal/repo"
	"arbor/internal/star"
)

// Options are what a kit works with.
type Options struct {
	Repos    *repo.Service
	Sessions *session.Service

	Issues  *issue.Service
	Stars   *star.Service
	Hooks   *hook.Service
	Notices *notification.Service
	Markups *markup.Service

	// Room checks that there is room for what an operation stores in the caller's name, and returns the context
	// that bounds it. Errors: 507; 403 for an account that may write no more.
	Room func(ctx context.Context, caller *account.Caller) (context.Context, error)
}

// Kit is what pages are made with.
type Kit struct {
	Options

	Texts *highlight.Texts // coloured files and changes
}

// NewKit returns a Kit.
func NewKit(o Options) *Kit { return &Kit{o, highlight.NewTexts()} }

// Package page is what all pages for people share. A feature's pages are in a room below it:
//
//   - front: the home page, signing in, the first visit to an empty server
//   - code: a repository's home, its files, commits, branches and comparisons; editing
//   - thread: issues, labels, milestones; change: pull requests; settings
//   - talk: conversations, listing: lists of issues and pull requests with a search box, which both of these
//     show
//   - people: profiles, organizations; project: new repositories, forks, stars, watchers
//   - explore: what is there, and searches; inbox: notifications; shelf: the plant store
//   - releases and their files; attach: files of texts; checks: what builds say of commits
//
// Files of this package:
//
//   - route.go: who may open a page; errors.go: the HTML form of errors
//   - write.go: what a page asks for before it changes something; ask.go: what pages still ask the API
//   - frame.go: what stands around a page: who looks, which repository, which tab
//   - done.go: the message that a page shows once after a form
//   - form.go: what forms send, and what was wrong with it; kept.go: one that comes after its sender's
//     session ended
//   - shown.go: which fields of a form a person changed, and which of them somebody else changed meanwhile
//   - render.go: templates, headers, ETags
//   - assets.go, assets/: the one stylesheet and the one script
//   - payload.go, view.go, format.go: what templates show, made of the features' values
//
// A page calls the operations that the handlers of the API call, with the access that its route found: it can show
// and change nothing that the API would not. So pages hold no rules and no SQL of their own. Pages that do not do so
// yet ask the REST API, within the server, as their caller. Pages work without the script, load nothing from
// elsewhere, and every text in them is escaped by html/template, but for bodies that package markdown has
// sanitized.
//
// The caller of a page is found by the cookie of a session, or by a token as for the API. Unsafe requests
// must come from the site's own pages.
package page

import (
	"context"

	"arbor/internal/account"
	"arbor/internal/hook"
	"arbor/internal/inside"
	"arbor/internal/issue"
	"arbor/internal/markup"
	"arbor/internal/notification"
	"arbor/internal/repo"
	"arbor/internal/star"
)

// Options are what a kit works with.
type Options struct {
	Repos *repo.Service
	Ask   inside.Ask // answers what pages ask the API

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
}

// NewKit returns a Kit.
func NewKit(o Options) *Kit { return &Kit{o} }

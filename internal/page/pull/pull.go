// Package pull is the pages of pull requests.
//
//   - GET /{owner}/{repo}/pulls: list.go, filter.go
//   - /{owner}/{repo}/pulls/new: create.go
//   - GET /{owner}/{repo}/pull/{file}: conversation.go; N.diff and N.patch, too
//   - GET .../pull/{number}/commits, /checks: parts.go
//   - GET .../pull/{number}/files: files.go
//   - .../pull/{number}/merging, /merge, /update, /revert, ...: box.go, act.go
//   - .../pull/{number}/comments, /reviews, /threads, /viewed: reviewing.go
//   - .../pull/{number}/reviewers: reviewers.go
//   - .../pull/{number}/suggestions: suggestion.go, apply.go
//   - frame.go, thread.go, payload.go: what the pages share
//
// What pull requests share with issues (comments, labels, assignees, titles, states) is in package talk,
// changed files are in package diff. Like all pages, these ask the API, as their caller.
package pull

import (
	"embed"

	"arbor/internal/page"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/web"
)

//go:embed templates
var files embed.FS

var roomTemplates = page.ReadTemplates(files)

// Handlers answer where the REST API has no address. Each is asked under a route of REST, with its right.
type Handlers struct {
	Text          repo.Handler // N.diff and N.patch
	Outlook       web.Handler  // GET .../pulls/{number}: what a merge would meet
	Draft         web.Handler  // PATCH .../pulls/{number}
	Revert        web.Handler  // PUT .../pulls/{number}/merge
	Comments      web.Handler  // GET .../pulls/{number}/comments: all at once
	Progress      web.Handler  // GET .../pulls/{number}: threads, viewed files, the pending review
	MarkViewed    web.Handler  // PATCH .../pulls/{number}
	Marks         web.Handler  // GET .../pulls
	CreatePending web.Handler  // POST .../pulls/{number}/comments
	ResolveThread web.Handler  // PATCH .../pulls/comments/{id}
	CommitFiles   web.Handler  // POST .../git/commits
	Annotations   web.Handler  // GET .../commits/{ref}/check-runs: what the latest runs say of lines
}

// Pages answers the pages of pull requests.
type Pages struct {
	kit  *page.Kit
	t    *page.Templates
	with Handlers
}

// New returns the pages.
func New(kit *page.Kit, with Handlers) *Pages { return &Pages{kit, roomTemplates, with} }

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	const pull = "/{owner}/{repo}/pull/{number}"
	on := p.kit.OnRepo
	return []route.Route{
		on("GET /{owner}/{repo}/pulls", p.List),
		on("GET /{owner}/{repo}/pulls/new", p.New),
		on("POST /{owner}/{repo}/pulls/new", p.Create),
		on("GET /{owner}/{repo}/pull/{file}", p.Conversation),
		on("GET "+pull+"/commits", p.Commits),
		on("GET "+pull+"/checks", p.Checks),
		on("GET "+pull+"/files", p.Files),
		on("GET "+pull+"/merging", p.Merging),
		on("POST "+pull+"/merge", p.Merge),
		on("POST "+pull+"/update", p.Update),
		on("POST "+pull+"/revert", p.Revert),
		on("POST "+pull+"/draft", p.SetDraft),
		on("POST "+pull+"/base", p.SetBase),
		on("POST "+pull+"/branch", p.DeleteBranch),
		on("GET "+pull+"/reviewers", p.Reviewers),
		on("POST "+pull+"/reviewers", p.SetReviewers),
		on("POST "+pull+"/comments", p.Comment),
		on("GET "+pull+"/comments/{id}", p.EditComment),
		on("POST "+pull+"/comments/{id}", p.SaveComment),
		on("POST "+pull+"/reviews", p.Review),
		on("POST "+pull+"/reviews/{id}", p.ChangeReview),
		on("POST "+pull+"/threads", p.Resolve),
		on("POST "+pull+"/viewed", p.SetViewed),
		on("POST "+pull+"/suggestions", p.Apply),
	}
}

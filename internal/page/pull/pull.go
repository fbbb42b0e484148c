// Package pull is the pages of pull requests.
//
//   - GET /{owner}/{repo}/pulls: list.go, filter.go
//   - /{owner}/{repo}/pulls/new: create.go
//   - GET /{owner}/{repo}/pull/{file}: conversation.go; N.diff and N.patch, too
//   - GET .../pull/{number}/commits, /checks: parts.go
//   - GET .../pull/{number}/files: files.go
//   - GET .../pull/{number}/commits/{sha}: commit.go
//   - .../pull/{number}/merge, /automerge, /update, /revert, ...: box.go, act.go
//   - .../pull/{number}/comments, /reviews, /threads, /viewed: reviewing.go
//   - .../pull/{number}/reviewers: reviewers.go
//   - .../pull/{number}/suggestions: suggestion.go, apply.go
//   - frame.go, thread.go, view.go: what the pages share
//
// What pull requests share with issues (comments, labels, assignees, titles, states) is in package talk,
// changed files are in package diff.
package pull

import (
	"embed"

	"arbor/internal/checkrun"
	"arbor/internal/codeowner"
	"arbor/internal/gitdata"
	"arbor/internal/page"
	"arbor/internal/page/talk"
	"arbor/internal/pull"
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/status"
)

//go:embed templates
var files embed.FS

// Files are the templates of the room.
func Files() embed.FS { return files }

var roomTemplates = page.ReadTemplates(files)

// Services are the features whose operations the pages call, besides those of conversations.
type Services struct {
	Git      *gitdata.Service
	Pulls    *pull.Service
	Checks   *checkrun.Service
	Statuses *status.Service
	Owners   *codeowner.Service
	Text     repo.Handler // N.diff and N.patch
}

// Pages answers the pages of pull requests.
type Pages struct {
	kit  *page.Kit
	t    *page.Templates
	talk *talk.Pages
	of   Services
}

// New returns the pages.
func New(kit *page.Kit, conversations *talk.Pages, of Services) *Pages {
	return &Pages{kit, roomTemplates, conversations, of}
}

// Routes are the pages and the targets of their forms.
func (p *Pages) Routes() []route.Route {
	const one = "/{owner}/{repo}/pull/{number}"
	on := p.kit.OnRepo
	return []route.Route{
		on("GET /{owner}/{repo}/pulls", p.List),
		on("GET /{owner}/{repo}/pulls/new", p.New),
		on("POST /{owner}/{repo}/pulls/new", p.Create),
		on("GET /{owner}/{repo}/queue/{branch...}", p.Queue),
		on("GET /{owner}/{repo}/pull/{file}", p.Conversation),
		on("GET "+one+"/commits", p.Commits),
		on("GET "+one+"/commits/{sha}", p.Commit),
		on("GET "+one+"/checks", p.Checks),
		on("GET "+one+"/files", p.Files),
		on("POST "+one+"/merge", p.Merge),
		on("POST "+one+"/automerge", p.SetAutoMerge),
		on("POST "+one+"/queue", p.SetQueued),
		on("POST "+one+"/update", p.Update),
		on("POST "+one+"/revert", p.Revert),
		on("POST "+one+"/draft", p.SetDraft),
		on("POST "+one+"/base", p.SetBase),
		on("POST "+one+"/branch", p.DeleteBranch),
		on("GET "+one+"/reviewers", p.Reviewers),
		on("POST "+one+"/reviewers", p.SetReviewers),
		on("POST "+one+"/comments", p.Comment),
		on("GET "+one+"/comments/{id}", p.EditComment),
		on("POST "+one+"/comments/{id}", p.SaveComment),
		on("GET "+one+"/comments/{id}/hide", p.AskHideComment),
		on("POST "+one+"/comments/{id}/hide", p.HideComment),
		on("POST "+one+"/reviews", p.Review),
		on("POST "+one+"/reviews/{id}", p.ChangeReview),
		on("GET "+one+"/reviews/{id}/hide", p.AskHideReview),
		on("POST "+one+"/reviews/{id}/hide", p.HideReview),
		on("POST "+one+"/threads", p.Resolve),
		on("POST "+one+"/viewed", p.SetViewed),
		on("POST "+one+"/suggestions", p.Apply),
	}
}

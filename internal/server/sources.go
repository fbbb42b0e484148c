package server

import (
	"arbor/internal/account"
	"arbor/internal/checkrun"
	"arbor/internal/commitcomment"
	"arbor/internal/gitdata"
	"arbor/internal/issue"
	"arbor/internal/issue/comment"
	"arbor/internal/issue/timeline"
	"arbor/internal/milestone"
	"arbor/internal/page"
	"arbor/internal/page/change"
	"arbor/internal/pull"
	"arbor/internal/release"
	"arbor/internal/repo"
	"arbor/internal/review"
)

// sources are parts of the API that others ask: pages, GraphQL, hooks.
type sources struct {
	Issues     *issue.API
	Comments   *comment.API
	Milestones *milestone.API
	Timelines  *timeline.API
	Pulls      *pull.API
	Reviews    *review.API
	Git        *gitdata.API
	Releases   *release.API
	OnCommits  *commitcomment.API
	Checks     *checkrun.API
}

// pullPages makes the pages of pull requests.
func (of *sources) pullPages(kit *page.Kit, repos *repo.Service) *change.Pages {
	return change.New(kit, change.Handlers{Text: of.Pulls.Text,
		Outlook:       repos.With(account.Pull, of.Pulls.Outlook),
		Draft:         repos.With(account.Pull, of.Pulls.SetDraft),
		Revert:        repos.With(account.Push, of.Pulls.Revert),
		Comments:      repos.With(account.Pull, of.Reviews.ListAllComments),
		Progress:      repos.With(account.Pull, of.Reviews.Progress),
		MarkViewed:    repos.With(account.Pull, of.Reviews.MarkViewed),
		Marks:         repos.With(account.Pull, of.Reviews.ListMarks),
		CreatePending: repos.With(account.Pull, of.Reviews.CreateDraft),
		ResolveThread: repos.With(account.Pull, of.Reviews.ResolveThread),
		CommitFiles:   repos.With(account.Push, of.Git.CommitFiles),
		Annotations:   repos.With(account.Pull, of.Checks.ListAnnotationsOfCommit)})
}

package pull

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of pull requests.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	contents := repos.Router(route.Needs(scope.PublicRepo, "contents"))
	pulls := repos.Router(route.Needs(scope.PublicRepo, "pull_requests"))
	merges := repos.Router(route.Needs(scope.PublicRepo, "pull_requests").ForApps("contents"))
	kept := api.answers.OfCaller // they show forks, whose changes have no generation here
	return []route.Route{
		contents.Pull("GET /repos/{owner}/{repo}/commits/{ref...}/pulls", api.ListOfCommit),

		pulls.Pull("GET /repos/{owner}/{repo}/pulls", kept(api.List)),
		pulls.Pull("POST /repos/{owner}/{repo}/pulls", api.Create),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}", api.Get),
		// For callers other than the author: triage, or push to edit texts and branches.
		pulls.Pull("PATCH /repos/{owner}/{repo}/pulls/{number}", api.Edit),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/commits", api.ListCommits),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/files", api.ListFiles),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/merge", api.CheckMerged),
		merges.Push("PUT /repos/{owner}/{repo}/pulls/{number}/merge", api.Merge),
		pulls.Pull("GET /repos/{owner}/{repo}/pulls/{number}/requested_reviewers", api.ListRequested),
		// Triage for callers other than the author.
		pulls.Pull("POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers", api.RequestReviewers),
		// Triage for callers other than the author.
		pulls.Pull("DELETE /repos/{owner}/{repo}/pulls/{number}/requested_reviewers", api.UnrequestReviewers),
		// Push to the head.
		pulls.Pull("PUT /repos/{owner}/{repo}/pulls/{number}/update-branch", api.UpdateBranch),
		contents.Push("POST /repos/{owner}/{repo}/merges", api.MergeInto),
		contents.Push("POST /repos/{owner}/{repo}/merge-upstream", api.MergeFromUpstream),
	}
}

package pull

import "arbor/internal/route"

// Routes are the endpoints of pull requests.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	return []route.Route{
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/commits/{ref...}/pulls", api.ListOfCommit),

		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls", api.List),
		repos.Route(route.Pull, "POST /repos/{owner}/{repo}/pulls", api.Create),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/{number}", api.Get),
		// For others than the author: push.
		repos.Route(route.Pull, "PATCH /repos/{owner}/{repo}/pulls/{number}", api.Edit),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/{number}/commits", api.ListCommits),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/{number}/files", api.ListFiles),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/{number}/merge", api.CheckMerged),
		repos.Route(route.Push, "PUT /repos/{owner}/{repo}/pulls/{number}/merge", api.Merge),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/pulls/{number}/requested_reviewers",
			api.ListRequested),
		// For others than the author: push.
		repos.Route(route.Pull, "POST /repos/{owner}/{repo}/pulls/{number}/requested_reviewers",
			api.RequestReviewers),
		// For others than the author: push.
		repos.Route(route.Pull, "DELETE /repos/{owner}/{repo}/pulls/{number}/requested_reviewers",
			api.UnrequestReviewers),
		// Push to the head.
		repos.Route(route.Pull, "PUT /repos/{owner}/{repo}/pulls/{number}/update-branch", api.UpdateBranch),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/merges", api.MergeInto),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/merge-upstream", api.MergeFromUpstream),
	}
}

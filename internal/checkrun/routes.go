package checkrun

import "arbor/internal/route"

// Routes are the endpoints of checks.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	return []route.Route{
		// By an App, of its own.
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/check-runs", api.Create).WithLimit(maxBody),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/check-runs/{check_run_id}", api.Get),
		repos.Route(route.Push, "PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}",
			api.Edit).WithLimit(maxBody),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations",
			api.ListAnnotations),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest",
			api.Rerequest),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/check-suites", api.CreateSuite),
		repos.Route(route.Admin, "PATCH /repos/{owner}/{repo}/check-suites/preferences", api.Prefer),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/check-suites/{check_suite_id}", api.GetSuite),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs",
			api.ListOfSuite),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest",
			api.RerequestSuite),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/commits/{ref...}/check-runs", api.ListOfCommit),
		repos.Route(route.Pull, "GET /repos/{owner}/{repo}/commits/{ref...}/check-suites", api.ListSuites),
	}
}

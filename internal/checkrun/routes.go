package checkrun

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of checks.
func (api *API) Routes() []route.Route {
	checks := api.s.repos.Router(route.Needs(scope.PublicRepo, "checks"))
	return []route.Route{
		// Apps write their own runs.
		checks.Push("POST /repos/{owner}/{repo}/check-runs", api.Create).WithLimit(maxBody),
		checks.Pull("GET /repos/{owner}/{repo}/check-runs/{check_run_id}", api.Get),
		checks.Push("PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}", api.Edit).WithLimit(maxBody),
		checks.Pull("GET /repos/{owner}/{repo}/check-runs/{check_run_id}/annotations", api.ListAnnotations),
		checks.Push("POST /repos/{owner}/{repo}/check-runs/{check_run_id}/rerequest", api.Rerequest),
		checks.Push("POST /repos/{owner}/{repo}/check-suites", api.CreateSuite),
		checks.Admin("PATCH /repos/{owner}/{repo}/check-suites/preferences", api.Prefer),
		checks.Pull("GET /repos/{owner}/{repo}/check-suites/{check_suite_id}", api.GetSuite),
		checks.Pull("GET /repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs", api.ListOfSuite),
		checks.Push("POST /repos/{owner}/{repo}/check-suites/{check_suite_id}/rerequest", api.RerequestSuite),
		checks.Pull("GET /repos/{owner}/{repo}/commits/{ref...}/check-runs", api.ListOfCommit),
		checks.Pull("GET /repos/{owner}/{repo}/commits/{ref...}/check-suites", api.ListSuites),
	}
}

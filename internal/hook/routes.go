package hook

import (
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Act is what a caller does with hooks. The scopes that a classic token needs depend on it.
type Act uint8

// The acts.
const (
	Reading Act = iota
	Changing
	Removing
)

// Scopes returns the scopes for the hooks of a repository; a classic token needs one of them.
func (a Act) Scopes() scope.Set {
	return scope.Repo | [...]scope.Set{scope.ReadRepoHooks, scope.WriteRepoHooks, scope.AdminRepoHooks}[a]
}

// Routes are the endpoints of hooks and their deliveries. Hooks of an archived repository stay, and can be
// deleted.
func (api *API) Routes() []route.Route {
	with := func(act Act) repo.Router {
		return api.s.repos.Router(route.Needs(act.Scopes(), "repository_hooks"))
	}
	read, write, remove := with(Reading), with(Changing), with(Removing)
	contents := api.s.repos.Router(route.Needs(scope.PublicRepo, "contents"))
	org := route.Needs(scope.AdminOrgHooks, route.Never).ForApps("organization_hooks")
	app := route.Needs(scope.None, route.Never)
	onRepo, onOrg, onApp := api.onRepo, api.onOrg, api.onApp
	const attempts = "/deliveries/{delivery_id}/attempts"
	return []route.Route{
		contents.Push("POST /repos/{owner}/{repo}/dispatches", api.Dispatch),
		read.Admin("GET /repos/{owner}/{repo}/hooks", onRepo(api.ListHooks)),
		write.Admin("POST /repos/{owner}/{repo}/hooks", onRepo(api.CreateHook)),
		read.Admin("GET /repos/{owner}/{repo}/hooks/{hook_id}", onRepo(api.GetHook)),
		write.Admin("PATCH /repos/{owner}/{repo}/hooks/{hook_id}", onRepo(api.EditHook)),
		remove.OnArchived().Admin("DELETE /repos/{owner}/{repo}/hooks/{hook_id}", onRepo(api.DeleteHook)),
		read.Admin("GET /repos/{owner}/{repo}/hooks/{hook_id}/config", onRepo(api.GetConfig)),
		write.Admin("PATCH /repos/{owner}/{repo}/hooks/{hook_id}/config", onRepo(api.EditConfig)),
		write.Admin("POST /repos/{owner}/{repo}/hooks/{hook_id}/pings", onRepo(api.Ping)),
		write.Admin("POST /repos/{owner}/{repo}/hooks/{hook_id}/tests", api.Test),
		read.Admin("GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries", onRepo(api.ListDeliveries)),
		read.Admin("GET /repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}",
			onRepo(api.GetDelivery)),
		write.Admin("POST /repos/{owner}/{repo}/hooks/{hook_id}"+attempts, onRepo(api.Redeliver)),

		org.SignedIn("GET /orgs/{org}/hooks", onOrg(api.ListHooks)),
		org.SignedIn("POST /orgs/{org}/hooks", onOrg(api.CreateHook)),
		org.SignedIn("GET /orgs/{org}/hooks/{hook_id}", onOrg(api.GetHook)),
		org.SignedIn("PATCH /orgs/{org}/hooks/{hook_id}", onOrg(api.EditHook)),
		org.SignedIn("DELETE /orgs/{org}/hooks/{hook_id}", onOrg(api.DeleteHook)),
		org.SignedIn("GET /orgs/{org}/hooks/{hook_id}/config", onOrg(api.GetConfig)),
		org.SignedIn("PATCH /orgs/{org}/hooks/{hook_id}/config", onOrg(api.EditConfig)),
		org.SignedIn("POST /orgs/{org}/hooks/{hook_id}/pings", onOrg(api.Ping)),
		org.SignedIn("GET /orgs/{org}/hooks/{hook_id}/deliveries", onOrg(api.ListDeliveries)),
		org.SignedIn("GET /orgs/{org}/hooks/{hook_id}/deliveries/{delivery_id}", onOrg(api.GetDelivery)),
		org.SignedIn("POST /orgs/{org}/hooks/{hook_id}"+attempts, onOrg(api.Redeliver)),

		app.ByJWT("GET /app/hook/config", onApp(api.GetConfig)),
		app.ByJWT("PATCH /app/hook/config", onApp(api.EditConfig)),
		app.ByJWT("GET /app/hook/deliveries", onApp(api.ListDeliveries)),
		app.ByJWT("GET /app/hook/deliveries/{delivery_id}", onApp(api.GetDelivery)),
		app.ByJWT("POST /app/hook"+attempts, onApp(api.Redeliver)),
	}
}

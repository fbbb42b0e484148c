package mirror

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of mirrors. Those of an archived repository can be removed.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	administration := repos.Router(route.Needs(scope.PublicRepo, "administration"))
	contents := repos.Router(route.Needs(scope.PublicRepo, "contents"))
	// An App cannot set them up, since a run needs the right of a person.
	setup := repos.Router(route.Needs(scope.PublicRepo, "administration").ForApps(route.Never))
	return []route.Route{
		administration.Admin("GET /repos/{owner}/{repo}/mirror", api.Get),
		setup.Admin("PUT /repos/{owner}/{repo}/mirror", api.Set),
		administration.OnArchived().Admin("DELETE /repos/{owner}/{repo}/mirror", api.Remove),
		contents.Push("POST /repos/{owner}/{repo}/mirror-sync", api.Sync),
		route.Needs(scope.None, route.None).Anyone("POST /repos/{owner}/{repo}/mirror-hook", api.Hook).
			InAnyMedia().ForNobody().WithoutToken().WithLimit(maxHook),
		setup.Admin("POST /repos/{owner}/{repo}/mirror/secret", api.CreateSecret),
		administration.OnArchived().Admin("DELETE /repos/{owner}/{repo}/mirror/secret", api.RemoveSecret),
		setup.Admin("PUT /repos/{owner}/{repo}/mirror/host-key", api.AcceptHostKey),
		administration.Admin("GET /repos/{owner}/{repo}/push_mirrors", api.ListPush),
		setup.Admin("POST /repos/{owner}/{repo}/push_mirrors", api.AddPush),
		administration.Admin("GET /repos/{owner}/{repo}/push_mirrors/{mirror_id}", api.GetPush),
		administration.OnArchived().Admin("DELETE /repos/{owner}/{repo}/push_mirrors/{mirror_id}", api.RemovePush),
		setup.Admin("PUT /repos/{owner}/{repo}/push_mirrors/{mirror_id}/host-key", api.AcceptPushHostKey),
		contents.Push("POST /repos/{owner}/{repo}/push_mirrors-sync", api.SyncPush),
	}
}

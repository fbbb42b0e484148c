package hook

import "arbor/internal/route"

// Routes are the endpoints of hooks and their deliveries. An archived repository's hooks stay, and go.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	list := []route.Route{
		repos.Route(route.Admin, "POST /repos/{owner}/{repo}/hooks/{hook_id}/tests", api.Test),
		repos.Route(route.Push, "POST /repos/{owner}/{repo}/dispatches", api.Dispatch),
	}
	for _, x := range []struct {
		method, path string
		handler      owned
	}{
		{"GET ", "", api.ListHooks},
		{"POST ", "", api.CreateHook},
		{"GET ", "/{hook_id}", api.GetHook},
		{"PATCH ", "/{hook_id}", api.EditHook},
		{"DELETE ", "/{hook_id}", api.DeleteHook},
		{"GET ", "/{hook_id}/config", api.GetConfig},
		{"PATCH ", "/{hook_id}/config", api.EditConfig},
		{"POST ", "/{hook_id}/pings", api.Ping},
		{"GET ", "/{hook_id}/deliveries", api.ListDeliveries},
		{"GET ", "/{hook_id}/deliveries/{delivery_id}", api.GetDelivery},
		{"POST ", "/{hook_id}/deliveries/{delivery_id}/attempts", api.Redeliver},
	} {
		of := repos.Route
		if x.method == "DELETE " {
			of = repos.RouteArchived
		}
		list = append(list, of(route.Admin, x.method+"/repos/{owner}/{repo}/hooks"+x.path,
			api.onRepo(x.handler)),
			route.New(route.SignedIn, x.method+"/orgs/{org}/hooks"+x.path,
				api.onOrg(x.handler)))
	}
	for address, h := range map[string]owned{
		"GET /app/hook/config":                             api.GetConfig,
		"PATCH /app/hook/config":                           api.EditConfig,
		"GET /app/hook/deliveries":                         api.ListDeliveries,
		"GET /app/hook/deliveries/{delivery_id}":           api.GetDelivery,
		"POST /app/hook/deliveries/{delivery_id}/attempts": api.Redeliver,
	} {
		list = append(list, route.New(route.App, address, api.onApp(h)))
	}
	return list
}

package app

import "arbor/internal/route"

// Routes are the endpoints of Apps and installations.
func (api *API) Routes() []route.Route {
	return []route.Route{
		route.New(route.App, "GET /app", api.GetSelf),
		route.New(route.Anyone, "GET /apps/{app_slug}", api.Get),
		route.New(route.Anyone, "POST /app-manifests/{code}/conversions", api.Convert).ForNobody(),
		route.New(route.App, "GET /app/installations", api.List),
		route.New(route.App, "GET /app/installations/{installation_id}", api.GetInstallation),
		route.New(route.App, "DELETE /app/installations/{installation_id}", api.Uninstall),
		route.New(route.App, "POST /app/installations/{installation_id}/access_tokens", api.CreateToken),
		route.New(route.App, "PUT /app/installations/{installation_id}/suspended", api.Suspend),
		route.New(route.App, "DELETE /app/installations/{installation_id}/suspended", api.Unsuspend),
		route.New(route.App, "GET /repos/{owner}/{repo}/installation", api.OfRepo),
		route.New(route.App, "GET /orgs/{org}/installation", api.OfOrg),
		route.New(route.App, "GET /users/{username}/installation", api.OfUser),
		route.New(route.Installation, "GET /installation/repositories", api.ListRepos),
		route.New(route.Installation, "DELETE /installation/token", api.EndToken),
		route.New(route.SignedIn, "GET /orgs/{org}/installations", api.ListOfOrg),
		route.New(route.SignedIn, "GET /user/installations", api.ListOwn),
		route.New(route.SignedIn, "GET /user/installations/{installation_id}/repositories", api.ListOwnRepos),
		route.New(route.SignedIn, "PUT /user/installations/{installation_id}/repositories/{repository_id}",
			api.AddRepo),
		route.New(route.SignedIn, "DELETE /user/installations/{installation_id}/repositories/{repository_id}",
			api.RemoveRepo),
	}
}

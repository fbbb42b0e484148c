package app

import "arbor/internal/route"

// Routes are the endpoints of Apps and installations.
func (api *API) Routes() []route.Route {
	return []route.Route{
		route.New(route.SignedIn, "GET /app", api.GetSelf),
		route.New(route.Anyone, "GET /apps/{app_slug}", api.Get),
		route.New(route.SignedIn, "GET /app/installations", api.List),
		route.New(route.SignedIn, "GET /app/installations/{installation_id}", api.GetInstallation),
		route.New(route.SignedIn, "DELETE /app/installations/{installation_id}", api.Uninstall),
		route.New(route.SignedIn, "POST /app/installations/{installation_id}/access_tokens", api.CreateToken),
		route.New(route.SignedIn, "PUT /app/installations/{installation_id}/suspended", api.Suspend),
		route.New(route.SignedIn, "DELETE /app/installations/{installation_id}/suspended", api.Unsuspend),
		route.New(route.SignedIn, "GET /repos/{owner}/{repo}/installation", api.OfRepo),
		route.New(route.SignedIn, "GET /orgs/{org}/installation", api.OfOrg),
		route.New(route.SignedIn, "GET /users/{username}/installation", api.OfUser),
		route.New(route.SignedIn, "GET /installation/repositories", api.ListRepos),
		route.New(route.SignedIn, "DELETE /installation/token", api.EndToken),
		route.New(route.SignedIn, "GET /orgs/{org}/installations", api.ListOfOrg),
		route.New(route.SignedIn, "GET /user/installations", api.ListOwn),
		route.New(route.SignedIn, "GET /user/installations/{installation_id}/repositories", api.ListOwnRepos),
		route.New(route.SignedIn, "PUT /user/installations/{installation_id}/repositories/{repository_id}", api.AddRepo),
		route.New(route.SignedIn, "DELETE /user/installations/{installation_id}/repositories/{repository_id}", api.RemoveRepo),
	}
}

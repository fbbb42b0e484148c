package app

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of Apps and installations.
func (api *API) Routes() []route.Route {
	free, never := route.Needs(scope.None, route.None), route.Needs(scope.None, route.Never)
	organization := route.Needs(scope.ReadOrg, route.Never).ForApps("organization_administration")
	code, own := route.Needs(scope.Repo, route.Never), never.ForUsers(route.None)
	return []route.Route{
		never.ByJWT("GET /app", api.GetSelf),
		free.Anyone("GET /apps/{app_slug}", api.Get),
		free.Anyone("POST /app-manifests/{code}/conversions", api.Convert).ForNobody().WithoutToken(),
		never.ByJWT("GET /app/installations", api.List),
		never.ByJWT("GET /app/installations/{installation_id}", api.GetInstallation),
		never.ByJWT("DELETE /app/installations/{installation_id}", api.Uninstall),
		never.ByJWT("POST /app/installations/{installation_id}/access_tokens", api.CreateToken),
		never.ByJWT("PUT /app/installations/{installation_id}/suspended", api.Suspend),
		never.ByJWT("DELETE /app/installations/{installation_id}/suspended", api.Unsuspend),
		never.ByJWT("GET /repos/{owner}/{repo}/installation", api.OfRepo),
		never.ByJWT("GET /orgs/{org}/installation", api.OfOrg),
		never.ForApps(route.None).ByJWT("GET /users/{username}/installation", api.OfUser),
		never.ForApps("metadata").Installation("GET /installation/repositories", api.ListRepos),
		never.ForApps(route.None).Installation("DELETE /installation/token", api.EndToken),
		organization.SignedIn("GET /orgs/{org}/installations", api.ListOfOrg),
		own.SignedIn("GET /user/installations", api.ListOwn),
		own.SignedIn("GET /user/installations/{installation_id}/repositories", api.ListOwnRepos),
		code.SignedIn("PUT /user/installations/{installation_id}/repositories/{repository_id}", api.AddRepo),
		code.SignedIn("DELETE /user/installations/{installation_id}/repositories/{repository_id}",
			api.RemoveRepo),
	}
}

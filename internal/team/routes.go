package team

import (
	"slices"

	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of teams. A team has three addresses: GitHub's clients use the last two.
func (api *API) Routes() []route.Route {
	reads := route.Needs(scope.ReadOrg, route.Never).ForApps("members")
	owns := route.Needs(scope.AdminOrg, route.Never).ForApps("members")
	metadata := api.s.repos.Router(route.Needs(scope.PublicRepo, "metadata").ForApps("administration"))
	list := []route.Route{
		reads.SignedIn("GET /orgs/{org}/teams", api.List),
		owns.SignedIn("POST /orgs/{org}/teams", api.Create),
		route.Needs(scope.ReadOrg, route.Never).SignedIn("GET /user/teams", api.ListOwn),
		metadata.Pull("GET /repos/{owner}/{repo}/teams", api.ListOfRepo),
		reads.SignedIn("GET /teams/{team_id}/members/{username}", api.CheckMember),
		reads.SignedIn("GET /organizations/{organization_id}/team/{team_id}/members/{username}", api.CheckMember),
		owns.SignedIn("PUT /teams/{team_id}/members/{username}", api.AddMember),
		owns.SignedIn("DELETE /teams/{team_id}/members/{username}", api.RemoveMembership),
	}
	return slices.Concat(list, api.below("/orgs/{org}/teams/{team_slug}"), api.below("/teams/{team_id}"),
		api.below("/organizations/{organization_id}/team/{team_id}"))
}

// below returns the routes of one team at an address.
func (api *API) below(team string) []route.Route {
	reads := route.Needs(scope.ReadOrg, route.Never).ForApps("members")
	owns := route.Needs(scope.AdminOrg, route.Never).ForApps("members")
	looks := api.s.repos.Router(reads)
	// Apps need the right to change who may use the repository, too.
	changes := api.s.repos.Router(route.Needs(scope.AdminOrg, route.Never).ForApps("administration"))
	membership, repository := team+"/memberships/{username}", team+"/repos/{owner}/{repo}"
	return []route.Route{
		reads.SignedIn("GET "+team, api.Get),
		owns.SignedIn("PATCH "+team, api.Edit),
		owns.SignedIn("DELETE "+team, api.Delete),
		reads.SignedIn("GET "+team+"/teams", api.ListChildren),
		reads.SignedIn("GET "+team+"/members", api.ListMembers),
		reads.SignedIn("GET "+membership, api.GetMembership),
		owns.SignedIn("PUT "+membership, api.SetMembership),
		owns.SignedIn("DELETE "+membership, api.RemoveMembership),
		reads.SignedIn("GET "+team+"/repos", api.ListRepos),
		looks.SignedIn("GET "+repository, api.CheckRepo),
		changes.Admin("PUT "+repository, api.AddRepo),
		// Administrators of the repository, owners and maintainers.
		changes.SignedIn("DELETE "+repository, api.RemoveRepo),
	}
}

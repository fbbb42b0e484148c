package follow

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of following.
func (api *API) Routes() []route.Route {
	free, own := route.Needs(scope.None, route.None), route.Needs(scope.None, route.None).ForApps(route.Never)
	following := route.Needs(scope.FollowUsers, route.Never).ForUsers("followers")
	return []route.Route{
		free.Anyone("GET /users/{username}/followers", api.ListFollowers),
		free.Anyone("GET /users/{username}/following", api.ListFollowing),
		free.Anyone("GET /users/{username}/following/{target}", api.CheckFollowing),
		own.SignedIn("GET /user/followers", api.ListOwnFollowers),
		own.SignedIn("GET /user/following", api.ListOwnFollowing),
		own.SignedIn("GET /user/following/{username}", api.CheckOwnFollowing),
		following.SignedIn("PUT /user/following/{username}", api.Follow),
		following.SignedIn("DELETE /user/following/{username}", api.Unfollow),
	}
}

package follow

import "arbor/internal/route"

// Routes are the endpoints of following.
func (api *API) Routes() []route.Route {
	return []route.Route{
		route.New(route.Anyone, "GET /users/{username}/followers", api.ListFollowers),
		route.New(route.Anyone, "GET /users/{username}/following", api.ListFollowing),
		route.New(route.Anyone, "GET /users/{username}/following/{target}", api.CheckFollowing),
		route.New(route.SignedIn, "GET /user/followers", api.ListOwnFollowers),
		route.New(route.SignedIn, "GET /user/following", api.ListOwnFollowing),
		route.New(route.SignedIn, "GET /user/following/{username}", api.CheckOwnFollowing),
		route.New(route.SignedIn, "PUT /user/following/{username}", api.Follow),
		route.New(route.SignedIn, "DELETE /user/following/{username}", api.Unfollow),
	}
}

package account

import "arbor/internal/route"

// Routes are the endpoints of people and organizations.
func (a *API) Routes() []route.Route {
	return []route.Route{
		route.New(route.SignedIn, "GET /user", a.GetSelf),
		route.New(route.SignedIn, "PATCH /user", a.UpdateSelf),
		route.New(route.SignedIn, "GET /user/orgs", a.ListOwnOrgs),
		route.New(route.SignedIn, "GET /user/memberships/orgs", a.ListOwnMemberships),
		route.New(route.Anyone, "GET /users", a.ListUsers),
		route.New(route.Anyone, "GET /users/{username}", a.GetUser),
		route.New(route.Anyone, "GET /users/{username}/orgs", a.ListUserOrgs),
		route.New(route.Anyone, "GET /users/{username}/followers", a.ListFollowers),
		route.New(route.Anyone, "GET /users/{username}/following", a.ListFollowing),
		route.New(route.Anyone, "GET /users/{username}/following/{target}", a.CheckFollowing),
		route.New(route.SignedIn, "GET /user/followers", a.ListOwnFollowers),
		route.New(route.SignedIn, "GET /user/following", a.ListOwnFollowing),
		route.New(route.SignedIn, "GET /user/following/{username}", a.CheckOwnFollowing),
		route.New(route.SignedIn, "PUT /user/following/{username}", a.Follow),
		route.New(route.SignedIn, "DELETE /user/following/{username}", a.Unfollow),
		route.New(route.Anyone, "GET /avatars/{id}", a.GetAvatar).In(route.Pages),
		route.New(route.Anyone, "GET /orgs/{org}", a.GetOrg),
		route.New(route.SignedIn, "PATCH /orgs/{org}", a.UpdateOrg),
		route.New(route.Anyone, "GET /orgs/{org}/members", a.ListMembers),
		route.New(route.Anyone, "GET /orgs/{org}/members/{username}", a.CheckMember),
		route.New(route.SignedIn, "PUT /orgs/{org}/members/{username}", a.AddMember),
		route.New(route.SignedIn, "DELETE /orgs/{org}/members/{username}", a.RemoveMember),
		route.New(route.SignedIn, "GET /orgs/{org}/memberships/{username}", a.GetMembership),
		route.New(route.SignedIn, "PUT /orgs/{org}/memberships/{username}", a.SetMembership),
		route.New(route.SignedIn, "DELETE /orgs/{org}/memberships/{username}", a.RemoveMembership),
		route.New(route.Anyone, "GET /orgs/{org}/public_members", a.ListPublicMembers),
		route.New(route.Anyone, "GET /orgs/{org}/public_members/{username}", a.CheckPublicMember),
		route.New(route.SignedIn, "PUT /orgs/{org}/public_members/{username}", a.PublicizeMember),
		route.New(route.SignedIn, "DELETE /orgs/{org}/public_members/{username}", a.ConcealMember),
		route.New(route.SiteAdmin, "PUT /users/{username}/suspended", a.SuspendUser),
		route.New(route.SiteAdmin, "DELETE /users/{username}/suspended", a.UnsuspendUser),
		route.New(route.SiteAdmin, "PUT /users/{username}/site_admin", a.PromoteUser),
		route.New(route.SiteAdmin, "DELETE /users/{username}/site_admin", a.DemoteUser),
		route.New(route.SiteAdmin, "POST /admin/users", a.CreateUser),
		route.New(route.SiteAdmin, "PATCH /admin/users/{username}", a.RenameUser),
		route.New(route.SiteAdmin, "DELETE /admin/users/{username}", a.DeleteUser),
		route.New(route.SiteAdmin, "POST /admin/organizations", a.CreateOrg),
		route.New(route.SiteAdmin, "PATCH /admin/organizations/{org}", a.RenameOrg),
	}
}

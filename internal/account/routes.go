package account

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes are the endpoints of people and organizations.
func (a *API) Routes() []route.Route {
	needs, never := route.Needs, route.Never
	free, self := needs(scope.None, route.None), needs(scope.None, route.None).ForApps(never)
	emails := needs(scope.User, never).ForUsers("email_addresses")
	readsOrg, ownOrgs := needs(scope.ReadOrg, route.None), needs(scope.ReadOrg, never)
	readsMembers, members := readsOrg.ForApps("members"), needs(scope.AdminOrg, never).ForApps("members")
	publicity, site := needs(scope.WriteOrg, never), needs(scope.SiteAdmin, never)
	const organization = "organization_administration"
	return []route.Route{
		self.SignedIn("GET /user", a.GetSelf),
		needs(scope.User, never).ForUsers("profile").SignedIn("PATCH /user", a.UpdateSelf),
		free.Anyone("GET /user/{account_id}", a.GetByID).ByNumber(),
		ownOrgs.SignedIn("GET /user/orgs", a.ListOwnOrgs),
		free.Anyone("GET /users", a.ListUsers),
		free.Anyone("GET /users/{username}", a.GetUser),
		readsOrg.Anyone("GET /users/{username}/orgs", a.ListUserOrgs),
		needs(scope.UserEmail, never).ForUsers("email_addresses").SignedIn("GET /user/emails", a.ListOwnEmails),
		emails.SignedIn("POST /user/emails", a.AddOwnEmails),
		emails.SignedIn("DELETE /user/emails", a.RemoveOwnEmails),

		free.Anyone("GET /organizations", a.ListAllOrgs),
		readsOrg.Anyone("GET /orgs/{org}", a.GetOrg),
		needs(scope.AdminOrg, never).ForApps(organization).SignedIn("PATCH /orgs/{org}", a.UpdateOrg),
		needs(scope.AdminOrg, never).SignedIn("DELETE /orgs/{org}", a.DeleteOrg),
		needs(scope.ReadAuditLog, never).ForApps(organization).SignedIn("GET /orgs/{org}/audit-log",
			a.ListOrgEvents),
		readsMembers.Anyone("GET /orgs/{org}/members", a.ListMembers),
		readsMembers.Anyone("GET /orgs/{org}/members/{username}", a.CheckMember),
		members.SignedIn("PUT /orgs/{org}/members/{username}", a.AddMember),
		members.SignedIn("DELETE /orgs/{org}/members/{username}", a.RemoveMember),
		ownOrgs.ForApps("members").SignedIn("GET /orgs/{org}/memberships/{username}", a.GetMembership),
		members.SignedIn("PUT /orgs/{org}/memberships/{username}", a.SetMembership),
		members.SignedIn("DELETE /orgs/{org}/memberships/{username}", a.RemoveMembership),
		members.SignedIn("PUT /orgs/{org}/outside_collaborators/{username}", a.ConvertMember),
		free.Anyone("GET /orgs/{org}/public_members", a.ListPublicMembers),
		free.Anyone("GET /orgs/{org}/public_members/{username}", a.CheckPublicMember),
		publicity.SignedIn("PUT /orgs/{org}/public_members/{username}", a.PublicizeMember),
		publicity.SignedIn("DELETE /orgs/{org}/public_members/{username}", a.ConcealMember),

		site.SiteAdmin("PUT /users/{username}/suspended", a.SuspendUser),
		site.SiteAdmin("DELETE /users/{username}/suspended", a.UnsuspendUser),
		site.SiteAdmin("PUT /users/{username}/site_admin", a.PromoteUser),
		site.SiteAdmin("DELETE /users/{username}/site_admin", a.DemoteUser),
		site.SiteAdmin("GET /admin/audit-log", a.ListAllEvents),
		site.SiteAdmin("POST /admin/users", a.CreateUser),
		site.SiteAdmin("PATCH /admin/users/{username}", a.RenameUser),
		site.SiteAdmin("DELETE /admin/users/{username}", a.DeleteUser),
		site.SiteAdmin("POST /admin/organizations", a.CreateOrg),
		site.SiteAdmin("PATCH /admin/organizations/{org}", a.RenameOrg),
	}
}

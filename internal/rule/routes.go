package rule

import (
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of protections and rulesets.
func (api *API) Routes() []route.Route {
	repos := api.s.repos
	administration := repos.Router(route.Needs(scope.PublicRepo, "administration"))
	metadata := repos.Router(route.Needs(scope.PublicRepo, "metadata"))
	org := route.Needs(scope.AdminOrg, route.Never).ForApps("organization_administration")
	const rulesets, orgRulesets = " /repos/{owner}/{repo}/rulesets", " /orgs/{org}/rulesets"
	const protection = " /repos/{owner}/{repo}/branches/{branch...}/protection"
	const reviews, checks = protection + "/required_pull_request_reviews", protection + "/required_status_checks"
	const admins, signatures = protection + "/enforce_admins", protection + "/required_signatures"
	const restrictions = protection + "/restrictions"
	return []route.Route{
		administration.Admin("GET"+protection, api.GetProtection),
		administration.Admin("PUT"+protection, api.PutProtection),
		administration.Admin("DELETE"+protection, api.DeleteProtection),
		administration.Admin("GET"+admins, api.GetAdmins),
		administration.Admin("POST"+admins, api.SetAdmins),
		administration.Admin("DELETE"+admins, api.DropAdmins),
		administration.Admin("GET"+signatures, api.GetSignatures),
		administration.Admin("POST"+signatures, api.SetSignatures),
		administration.Admin("DELETE"+signatures, api.DropSignatures),
		administration.Admin("GET"+reviews, api.GetReviews),
		administration.Admin("PATCH"+reviews, api.EditReviews),
		administration.Admin("DELETE"+reviews, api.DropReviews),
		administration.Admin("GET"+checks, api.GetChecks),
		administration.Admin("PATCH"+checks, api.EditChecks),
		administration.Admin("DELETE"+checks, api.DropChecks),
		administration.Admin("GET"+checks+"/contexts", api.ListContexts),
		administration.Admin("POST"+checks+"/contexts", api.AddContexts),
		administration.Admin("PUT"+checks+"/contexts", api.SetContexts),
		administration.Admin("DELETE"+checks+"/contexts", api.RemoveContexts),
		administration.Admin("GET"+restrictions, api.GetRestrictions),
		administration.Admin("DELETE"+restrictions, api.DropRestrictions),
		administration.Admin("GET"+restrictions+"/users", api.ListPushers),
		administration.Admin("POST"+restrictions+"/users", api.AddPushers),
		administration.Admin("PUT"+restrictions+"/users", api.SetPushers),
		administration.Admin("DELETE"+restrictions+"/users", api.RemovePushers),
		administration.Admin("GET"+restrictions+"/teams", api.ListPushingTeams),
		administration.Admin("POST"+restrictions+"/teams", api.AddPushingTeams),
		administration.Admin("PUT"+restrictions+"/teams", api.SetPushingTeams),
		administration.Admin("DELETE"+restrictions+"/teams", api.RemovePushingTeams),
		administration.Admin("GET"+restrictions+"/apps", api.ListPushingApps),
		administration.Admin("POST"+restrictions+"/apps", api.AddPushingApps),
		administration.Admin("PUT"+restrictions+"/apps", api.SetPushingApps),
		administration.Admin("DELETE"+restrictions+"/apps", api.RemovePushingApps),

		metadata.Pull("GET"+rulesets, api.ListRulesets),
		administration.Admin("POST"+rulesets, api.CreateRuleset),
		metadata.Pull("GET"+rulesets+"/{ruleset_id}", api.GetRuleset),
		administration.Admin("PUT"+rulesets+"/{ruleset_id}", api.EditRuleset),
		administration.Admin("DELETE"+rulesets+"/{ruleset_id}", api.DeleteRuleset),
		administration.Push("GET"+rulesets+"/rule-suites", api.ListSuites),
		administration.Push("GET"+rulesets+"/rule-suites/{rule_suite_id}", api.GetSuite),
		metadata.Pull("GET /repos/{owner}/{repo}/rules/branches/{branch...}", api.ListRules),
		org.SignedIn("GET"+orgRulesets, api.onOrg(api.ListOrgRulesets)),
		org.SignedIn("POST"+orgRulesets, api.onOrg(api.CreateOrgRuleset)),
		org.SignedIn("GET"+orgRulesets+"/rule-suites", api.onOrg(api.ListOrgSuites)),
		org.SignedIn("GET"+orgRulesets+"/rule-suites/{rule_suite_id}", api.onOrg(api.GetOrgSuite)),
		org.SignedIn("GET"+orgRulesets+"/{ruleset_id}", api.onOrg(api.GetOrgRuleset)),
		org.SignedIn("PUT"+orgRulesets+"/{ruleset_id}", api.onOrg(api.EditOrgRuleset)),
		org.SignedIn("DELETE"+orgRulesets+"/{ruleset_id}", api.onOrg(api.DeleteOrgRuleset)),
	}
}

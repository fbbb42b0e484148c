package lacking

import (
	"arbor/internal/repo"
	"arbor/internal/route"
	"arbor/internal/scope"
)

// Routes returns the routes of features that are not there, with the rights that GitHub demands.
func (api *API) Routes() []route.Route {
	on := func(permission string) repo.Router {
		return api.repos.Router(route.Needs(scope.PublicRepo, permission))
	}
	of := func(permission string) route.Need {
		return route.Needs(scope.AdminOrg, route.Never).ForApps(permission)
	}
	const repository, org = "GET /repos/{owner}/{repo}", "GET /orgs/{org}"
	actions, secrets, administration := on("actions"), on("secrets"), on("administration")
	variables := on("actions_variables")
	runners, orgAdministration := of("organization_self_hosted_runners"), of("organization_administration")
	return []route.Route{
		actions.Pull(repository+"/actions/artifacts", api.none("artifacts")),
		actions.Pull(repository+"/actions/cache/usage", api.CacheUsage),
		actions.Pull(repository+"/actions/caches", api.none("actions_caches")),
		secrets.Push(repository+"/actions/organization-secrets", api.none("secrets")),
		variables.Push(repository+"/actions/organization-variables", api.none("variables")),
		administration.Admin(repository+"/actions/permissions", api.Disabled),
		administration.Admin(repository+"/actions/runners", api.none("runners")),
		actions.Pull(repository+"/actions/runs", api.none("workflow_runs")),
		secrets.Push(repository+"/actions/secrets", api.none("secrets")),
		variables.Push(repository+"/actions/variables", api.none("variables")),
		actions.Pull(repository+"/actions/workflows", api.none("workflows")),
		on("codespaces").Push(repository+"/codespaces/secrets", api.none("secrets")),
		on("dependabot_secrets").Push(repository+"/dependabot/secrets", api.none("secrets")),
		on("metadata").Pull(repository+"/private-vulnerability-reporting", api.Disabled),

		orgAdministration.SignedIn(org+"/actions/cache/usage", api.ofOrg(api.CacheUsageOfOrg)),
		orgAdministration.SignedIn(org+"/actions/permissions", api.ofOrg(api.PermissionsOfOrg)),
		runners.SignedIn(org+"/actions/runner-groups", api.noneOfOrg("runner_groups")),
		runners.SignedIn(org+"/actions/runners", api.noneOfOrg("runners")),
		of("organization_secrets").SignedIn(org+"/actions/secrets", api.noneOfOrg("secrets")),
		of("organization_actions_variables").SignedIn(org+"/actions/variables", api.noneOfOrg("variables")),
		of("organization_dependabot_secrets").SignedIn(org+"/dependabot/secrets", api.noneOfOrg("secrets")),
	}
}

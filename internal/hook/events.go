package hook

import "slices"

// All stands for every event in a hook's list.
const All = "*"

// Ping is the event that tests a webhook.
const Ping = "ping"

// Dispatch is the event that clients send by hand.
const Dispatch = "repository_dispatch"

// events are the names that a webhook may list: GitHub's. Names of events that are not implemented are
// accepted, because programs list them. To implement one, Record it, and render it in package payloads.
var events = []string{
	"branch_protection_configuration", "branch_protection_rule", "check_run", "check_suite",
	"code_scanning_alert", "commit_comment", "create", "custom_property", "custom_property_values", "delete",
	"dependabot_alert", "deploy_key", "deployment", "deployment_protection_rule", "deployment_review",
	"deployment_status", "discussion", "discussion_comment", "fork", "github_app_authorization", "gollum", "installation",
	"installation_repositories", "installation_target", "issue_comment", "issue_dependencies",
	"issues", "label",
	"member", "membership", "merge_group", "meta", "milestone", "org_block", "organization", "package",
	"page_build", "personal_access_token_request", Ping, "project", "project_card", "project_column",
	"projects_v2", "projects_v2_item", "projects_v2_status_update", "public", "pull_request",
	"pull_request_review", "pull_request_review_comment", "pull_request_review_thread", "push",
	"registry_package", "release", "repository", "repository_advisory", Dispatch, "repository_import",
	"repository_ruleset", "repository_vulnerability_alert", "secret_scanning_alert",
	"secret_scanning_alert_location", "secret_scanning_scan", "security_advisory", "security_and_analysis",
	"sponsorship", "star", "status", "sub_issues", "team", "team_add", "user", "watch", "workflow_dispatch",
	"workflow_job", "workflow_run",
}

// maxEvents is how many names a request may have.
const maxEvents = 200

func known(event string) bool { return event == All || slices.Contains(events, event) }

// tidy sorts names and removes duplicates; "*" replaces all others.
func tidy(names []string) []string {
	if slices.Contains(names, All) {
		return []string{All}
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}

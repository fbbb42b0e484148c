//go:build long

package conformance

import (
	"regexp"
	"strings"
)

// exception is a place where an answer is not what GitHub's description says.
type exception struct {
	Operations string // a pattern of operation ids
	Media      string // a pattern of the media type that was asked for; "" is any
	At         string // a pattern of the field's place; "" is the whole answer
	Why        string // how the finding begins
	Reason     string
}

// exceptions are all of them: most are places where the description asks for
// what api.github.com itself does not send. One that no answer needs fails the
// test, so the list stays as short as it can be.
var exceptions = []exception{
	{Operations: "(pulls|issues)/.*", Media: `\.(text|html)\+json`, At: `.*\bbody`, Why: "missing",
		Reason: "these media types give body_text or body_html in its place (decision 29); the description knows the default alone"},
	{Operations: "issues/list-for-repo", Media: `\.(text|html|full)\+json`, At: `\[\]\.body_(text|html)`,
		Why:    "got null",
		Reason: "an issue without a text has none, as its body is null (decision 28)"},
	{Operations: "search/issues-and-pull-requests", At: `items\[\]\.body`, Why: "got null",
		Reason: "the same; the schema of issues in all other lists does allow it"},
	{Operations: "pulls/(get|list)", At: `(\[\]\.)?head\.repo`, Why: "got null",
		Reason: "the repository that a pull request came from may have been deleted: GitHub sends null"},
	{Operations: "pulls/(list-review-comments.*|list-comments-for-review|get-review-comment)",
		At: `(\[\]\.)?(line|position)`, Why: "got null",
		Reason: "the line of an outdated comment is not there any more: GitHub sends null"},
	{Operations: "pulls/(create-review-comment|list-review-comments.*)", At: `(\[\]\.)?(original_)?line`,
		Why:    "got null",
		Reason: "a comment on a whole file is on no line: GitHub sends null"},
	{Operations: "git/create-blob", Why: "'oneOf' failed, subschemas 0, 1 matched",
		Reason: "the two errors that the description names for it cannot be told apart by their schemas"},
	{Operations: "activity/check-repo-is-starred-by-authenticated-user", Why: `content type ""`,
		Reason: "the interface gives this 404 no body (decision 15)"},
	{Operations: "pulls/create-review", At: `errors\[\]`, Why: "got object, want string",
		Reason: "errors have one form everywhere (decision 15); GitHub sends words here and objects elsewhere"},
	{Operations: "activity/list-.*events.*", At: `\[\]\.payload`, Why: "'oneOf' failed, subschemas",
		Reason: "the payloads that the description knows do not exclude each other: one of an issue is also one of a comment"},
	{Operations: "apps/.*installations?.*", At: `.*\baccount\.(created_at|name|slug|updated_at)`,
		Why:    "missing",
		Reason: "the account is a user or an organization: these fields are those of an enterprise, which the description has beside them"},
	{Operations: "repos/get-(repo|org)-rule-suites", At: `\[\]\.evaluation_result`, Why: "got null",
		Reason: "no ruleset was only evaluated; the schema of one suite does allow it"},
	{Operations: "teams/.*", At: `(\[\]\.)?organization\.(blog|company|email|location|name)`,
		Why:    "got null",
		Reason: "an organization that has not filled in its profile: GitHub sends null"},
	{Operations: "meta/root", At: `[a-z_]+_url`, Why: "missing",
		Reason: "the root names what there is, and nothing that would not answer (decision 9)"},
}

func (e *exception) matches(op *operation, accept string, f finding) bool {
	return matches("^(?:"+e.Operations+")$", op.ID) && matches(e.Media, accept) &&
		matches("^(?:"+e.At+")$", f.At) && strings.HasPrefix(f.Why, e.Why)
}

func matches(pattern, text string) bool {
	ok, err := regexp.MatchString(pattern, text)
	if err != nil {
		panic(err)
	}
	return ok
}

// alone are the routes of the API that GitHub's description does not have, each
// with why we do. A route that is missing here was perhaps written otherwise
// than at GitHub.
var alone = map[string]string{
	"POST /graphql":     "GitHub describes GraphQL by its schema",
	"POST /api/graphql": "the same, at GitHub Enterprise",

	"GET /{owner}/{repo}/raw/{path...}":                           "where download_url leads; GitHub has another host for it",
	"GET /{owner}/{repo}/releases/download/{path...}":             "where browser_download_url leads; pages have it at GitHub",
	"GET /{owner}/{repo}/releases/latest/download/{name}":         "the same",
	"GET /{owner}/{repo}/attachments/{key}":                       "pictures and files of texts; GitHub has them beside the API",
	"GET /repos/{owner}/{repo}/mirror":                            "mirrors are ours; GitHub shows mirror_url alone",
	"PUT /repos/{owner}/{repo}/mirror":                            "the same",
	"DELETE /repos/{owner}/{repo}/mirror":                         "the same",
	"PUT /repos/{owner}/{repo}/mirror/host-key":                   "the same",
	"PUT /repos/{owner}/{repo}/push_mirrors/{mirror_id}/host-key": "the same",
	"POST /repos/{owner}/{repo}/mirror-sync":                      "the same, as at Gitea",
	"POST /repos/{owner}/{repo}/mirror-hook":                      "the same",
	"POST /repos/{owner}/{repo}/mirror/secret":                    "the same",
	"DELETE /repos/{owner}/{repo}/mirror/secret":                  "the same",
	"GET /repos/{owner}/{repo}/push_mirrors":                      "the same",
	"POST /repos/{owner}/{repo}/push_mirrors":                     "the same",
	"GET /repos/{owner}/{repo}/push_mirrors/{mirror_id}":          "the same",
	"DELETE /repos/{owner}/{repo}/push_mirrors/{mirror_id}":       "the same",
	"POST /repos/{owner}/{repo}/push_mirrors-sync":                "the same",
	"PUT /orgs/{org}/members/{username}":                          "adds a member without an invitation",
	"GET /repos/{owner}/{repo}/git/refs":                          "GitHub answers it, and describes it no more",
	"GET /repos/{owner}/{repo}/git/refs/{ref...}":                 "the same",
	"GET /repos/{owner}/{repo}/statuses/{ref...}":                 "the same: statuses_url of payloads leads there",
	"GET /repos/{owner}/{repo}/tarball":                           "of the default branch; GitHub describes an empty name",
	"GET /repos/{owner}/{repo}/zipball":                           "the same",
	"GET /{username}.keys":                                        "GitHub has it beside the API, and does not describe it",
	"GET /{username}.gpg":                                         "GitHub has it next to the API, and does not describe it",
	"GET /web-flow.gpg":                                           "GitHub has it next to the API, and does not describe it",
	"GET /{owner}/{repo}/archive/{file...}":                       "where tarball and zipball lead; GitHub has another host for it",
	"GET /users/{username}/starred/{owner}/{repo}":                "where the template starred_url of users leads",
	"GET /repos/{owner}/{repo}/contents":                          "the root folder, which GitHub describes as an empty path",
	"GET /repos/{owner}/{repo}/issues/{number}/subscription":      "of early versions of the API (decision 14)",
	"PUT /repos/{owner}/{repo}/issues/{number}/subscription":      "the same",
	"DELETE /repos/{owner}/{repo}/issues/{number}/subscription":   "the same",
	"PUT /users/{username}/suspended":                             "of GitHub Enterprise Server",
	"DELETE /users/{username}/suspended":                          "the same",
	"PUT /users/{username}/site_admin":                            "the same",
	"DELETE /users/{username}/site_admin":                         "the same",
	"GET /orgs/{org}/audit-log":                                   "of GitHub Enterprise Cloud, whose description this is not",
	"GET /admin/audit-log":                                        "of the whole server: our own",
	"POST /admin/users":                                           "the same",
	"PATCH /admin/users/{username}":                               "the same",
	"PATCH /admin/organizations/{org}":                            "the same",
	"GET /admin/keys":                                             "the same",
	"DELETE /admin/keys/{key_ids}":                                "the same",
	"DELETE /admin/users/{username}":                              "the same",
	"POST /admin/organizations":                                   "the same",
	"GET /scim/v2/Users":                                          "of GitHub Enterprise Server, and of SCIM",
	"POST /scim/v2/Users":                                         "of GitHub Enterprise Server, and of SCIM",
	"GET /scim/v2/Users/{scim_user_id}":                           "of GitHub Enterprise Server, and of SCIM",
	"PUT /scim/v2/Users/{scim_user_id}":                           "of GitHub Enterprise Server, and of SCIM",
	"PATCH /scim/v2/Users/{scim_user_id}":                         "of GitHub Enterprise Server, and of SCIM",
	"DELETE /scim/v2/Users/{scim_user_id}":                        "of GitHub Enterprise Server, and of SCIM",
	"GET /scim/v2/Groups":                                         "of GitHub Enterprise Server, and of SCIM",
	"POST /scim/v2/Groups":                                        "of GitHub Enterprise Server, and of SCIM",
	"GET /scim/v2/Groups/{scim_group_id}":                         "of GitHub Enterprise Server, and of SCIM",
	"PUT /scim/v2/Groups/{scim_group_id}":                         "of GitHub Enterprise Server, and of SCIM",
	"PATCH /scim/v2/Groups/{scim_group_id}":                       "of GitHub Enterprise Server, and of SCIM",
	"DELETE /scim/v2/Groups/{scim_group_id}":                      "of GitHub Enterprise Server, and of SCIM",
	"GET /scim/v2/ServiceProviderConfig":                          "of GitHub Enterprise Server, and of SCIM",
	"GET /scim/v2/ResourceTypes":                                  "of GitHub Enterprise Server, and of SCIM",
	"GET /scim/v2/ResourceTypes/{resource_type}":                  "of GitHub Enterprise Server, and of SCIM",
	"GET /scim/v2/Schemas":                                        "of GitHub Enterprise Server, and of SCIM",
	"GET /scim/v2/Schemas/{schema_urn}":                           "of GitHub Enterprise Server, and of SCIM",
	"GET /repositories/{repository_id}":                           "GitHub answers it, and describes it not: redirects lead there",
}

// numbered is where go-github and Terraform address teams, which GitHub answers and does not describe.
const numbered = "/organizations/{organization_id}/team/"

// unfilled are the fields that Arbor sends and never with a value, since it has
// not what they tell of; each a pattern.
var unfilled = map[string]string{
	`actions-cache-list\.actions_caches`: "there are no Actions",
	`api-overview\.(git|hooks)`:          "the server does not know the networks of its machine",
	`organization-invitation\.email`:     "an address finds the account that verified it, which is invited",

	`repo-search-result-item\.(language|license)`:                                  "found out after pushes, as in repositories, which show them",
	`.*(repository|full-repository|repo-search-result-item)\.mirror_url`:           "there are no mirrors",
	`.*\.performed_via_github_app`:                                                 "the bot itself is shown",
	`installation\.(single_file_name|single_file_paths|suspended_at|suspended_by)`: "no App has a file of its own; package app tests suspensions",
	`minimal-repository\.license\.url`:                                             "as in repositories, below",
	`authorization\.(note|note_url|fingerprint)`:                                   "they were of tokens that programs created with a password",
	`authorization\.expires_at`:                                                    "tokens of OAuth Apps last until they are revoked",
	`hook-delivery(-item)?\.throttled_at`:                                          "no delivery is throttled",
	`.*\.gravatar_id`:                                                              "pictures come from here; GitHub sends an empty text, too",
	`.*-issue-event\.commit_(id|url)`:                                              "these events are of no commit",
	`fork-event\.forkee\.(language|license|mirror_url|topics)`:                     "mirrors as in repositories, below; a fork in a feed has no topics of its own here",
	`(.*\.)?verification\.verified_at`:                                             "no commit that is shown here is signed by a key that somebody has",
	`import\.(import_percent|authors_count|status_text)`:                           "an import that fails at once brings nothing; package repos tests others",
	`import\.(commit_count|push_percent)`:                                          "it is the whole repository that comes, in one step",
	`gpg-key\.(primary_key_id|expires_at)`:                                         "the key does not expire, and is no subkey",
	`gpg-key\.subkeys\.(emails|expires_at|raw_key|subkeys)`:                        "a key has these, a subkey does not",
	`file-commit\.commit\.verification\.(signature|payload)`:                       "commits that the API makes are not signed",
	`.*(repository|full-repository)\.(language|license)`:                           "found out beside the requests, for which these do not wait; package detect tests them",
	`nullable-license-simple\.url`:                                                 "the same",
	`(private|public)-user\.(hireable|twitter_username)`:                           "profiles do not have them",
	`(organization-full|team-organization)\.archived_at`:                           "organizations are not archived",
	`protected-branch-required-status-check\..*`:                                   "branches are not protected",
	`.*\.(requested_teams|teams)`:                                                  "protections and environments name no teams",
	`(deploy-key|key|key-simple)\.last_used`:                                       "keys are used over SSH, which these requests do not go",
	`pull-request(-simple)?\.auto_merge`:                                           "only GraphQL enables it; package pulls tests it",
	`repository-subscription\.reason`:                                              "who watches has asked for it",
	`content-submodule\.(_links\.)?(git|html|git_url|html_url|download_url)`:       "what a submodule names is elsewhere",

	`community-profile\.files\.license`: "found out beside the requests, for which these do not wait",
	`topic-search-result-item\.(created_by|description|display_name|released|short_description)`: "nobody writes about topics",
}

// unlisted are the events that no request of the run causes, each with why.
var unlisted = map[string]string{
	"auto_merge_enabled":  "only GraphQL enables it; package pulls tests it",
	"auto_squash_enabled": "the same",
	"auto_rebase_enabled": "the same",
	"auto_merge_disabled": "the same",

	"added_to_merge_queue":     "the same",
	"removed_from_merge_queue": "the same",
}

// hasReason reports whether a field is known to have no value.
func hasReason(field string) bool {
	for pattern := range unfilled {
		if matches("^(?:"+pattern+")$", field) {
			return true
		}
	}
	return false
}

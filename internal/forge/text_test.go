package forge

import (
	"slices"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// boundedTexts are the tables with texts that count for nobody, and what bounds their rows.
var boundedTexts = map[string]string{
	"accounts": "people are made by operators; their texts have a size", "apps": "100 of an account",
	"activities": "pruned; one of a push or a text that counts", "audit": "pruned",
	"attachments": "1000 of somebody in a repository, whose files count", "files": "their sizes count",
	"release_assets": "1000 of a release", "check_suites": "a repository's checks have a bound, the oldest go",
	"check_runs": "as suites", "check_annotations": "as suites", "collaborators": "one of a person",
	"auto_merges": "one of a pull request, as long as it is open",
	"autolinks":   "500 of a repository", "branch_renames": "1000 of a repository",
	"device_requests": "20 of a network", "environments": "1000 of a repository", "emails": "100 of an account", "former_logins": "by operators",
	"generations": "one of a repository", "hooks": "20 of a repository", "hook_deliveries": "128 MiB of an owner",
	"imports": "by operators", "imported": "by operators", "mannequins": "by operators",
	"installations": "one of an account and App", "labels": "5000 of a repository", "linked_branches": "of refs",
	"lfs_locks": "5000 of a repository", "lfs_objects": "one of a file, whose size counts",
	"merge_groups": "two of an entry of a merge queue, which has 500", "merge_queues": "one of a branch with entries",
	"notification_acts": "jobs", "notification_subjects": "one of what counts",
	"past_backups": "by operators", "pull_branches": "one of a pull request", "pull_commits": "of pushes",
	"pulls": "one of an issue", "pushed_commits": "jobs", "refs": "a repository has a bound",
	"repo_languages": "one of a repository", "repo_statistics": "one of a repository", "repo_redirects": "one of a name of a repository",
	"rulesets": "75 of a repository or organization", "rule_suites": "1000 of a repository",
	"repo_topics": "20 of a repository", "repos": "--quota-repos", "ssh_keys": "100 of an account",
	"signing_keys": "50 of a kind of an account", "saved_replies": "100 of an account", "claims": "20 of an account",
	"status_commits": "of statuses", "status_contexts": "of statuses", "tokens": "200 of an account",
	"scim_users": "by providers that the operator named", "scim_groups": "the same",
	"unreached_objects": "pruned", "viewed_files": "one of a file of a pull request", "discarded": "jobs",
	"passkeys": "25 of an account", "identities": "one of an account and provider",
	"passkey_challenges": "50 of a network, that expire",
	"oauth_apps":         "100 of an account", "oauth_secrets": "10 of an OAuth App",
	"oauth_grants": "one of an account and OAuth App", "oauth_codes": "10 of a grant, that expire",
	"openid_keys": "one in 90 days, and by operators",
	"mails":       "200 of an account, 5000 of strangers", "mail_links": "3 of an account, kind and address, that expire",
	"signup_links": "500 of administrators, 3 of an address, that expire", "signup_requests": "1000, that expire",
	"mail_replies":    "60 of an account within an hour, kept for 30 days",
	"signup_settings": "one", "invited_addresses": "50 of an organization within a day, that expire",
	"mail_counts": "those of a day, whose callers are counted", "mail_sites": "one", "comparisons": "one of a directory",
	"depots": "by operators", "import_jobs": "one of a repository", "store_keys": "by the program", "packs": "of pushes", "pack_files": "of pushes", "bundles": "one of a repository, and one that is removed", "mirrors": "11 of a repository", "mirror_secrets": "one of a repository",
	"mirror_objects": "100,000 of a mirror", "mirror_ssh": "one of a mirror",
	"deleted_milestones": "jobs", "deleted_repos": "jobs", "kept_repos": "100 of an account", "teams": "5000 of an organization",
}

// Each table with texts counts for their writer or has another limit. Otherwise an account could fill the
// disk.
func TestEachTextCounts(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, db.SQLite)
	var tables []db.Table
	testkit.NoError(t, d.Read(t.Context(), func(tx *db.Tx) (err error) {
		tables, err = db.Tables(tx)
		return err
	}))
	known := map[string]bool{}
	for _, text := range account.Texts {
		known[text.Table] = true
	}
	for _, table := range tables {
		texts := slices.ContainsFunc(table.Columns, func(c db.Column) bool { return c.Kind == db.KindText })
		if texts && !known[table.Name] && boundedTexts[table.Name] == "" {
			t.Errorf("the texts of %s count for nobody: add it to account.Texts with triggers, or say what bounds it",
				table.Name)
		}
	}
}

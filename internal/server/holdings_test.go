package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// holdings are what requests change.
var holdings = []string{
	`repo_id, name, sha FROM refs WHERE name NOT LIKE 'refs/pull/%'`, // which a worker makes
	`id, owner_id, name, description, private, default_branch FROM repos`,
	`repo_id, from_name, to_name FROM branch_renames`,
	`repo_id, topic FROM repo_topics`,
	`id, title, body, state, labels, assignees, locked FROM issues`,
	`id, body FROM issue_comments`,
	`id, body FROM commit_comments`,
	`id, name, color FROM labels`,
	`id, title, description FROM milestones`,
	`id, body, state FROM reviews`,
	`id, body FROM review_comments`,
	`issue_id, user_id FROM requested_reviewers`,
	`id FROM statuses`,
	`id, key_prefix FROM autolinks`,
	`id, repo_id, push, url, wanted FROM mirrors`,
	`repo_id, secret FROM mirror_secrets`,
	`mirror_id, host_key FROM mirror_ssh`,
	`repo_id, url FROM import_jobs`,
	`id, environment, state FROM deployments`,
	`id, name, reviewers FROM environments`,
	`id, name, conclusion FROM check_runs`,
	`id, tag, body, draft FROM releases`,
	`id, name, label FROM release_assets`,
	`id, name FROM attachments`,
	`id FROM reactions`,
	`user_id, repo_id FROM stars`,
	`account_id, repo_id, place FROM pins`,
	`user_id, repo_id FROM watches`,
	`issue_id, user_id FROM issue_subscriptions`,
	`user_id, target_id FROM followers`,
	`user_id, repo_id, role FROM collaborators`,
	`org_id, user_id, owner, public FROM members`,
	`id, login, bio, site_admin, suspended_at FROM accounts`,
	`id, account_id, repo_id, title FROM ssh_keys`,
	`id, account_id, handle, name FROM signing_keys`,
	`id, account_id, title, body FROM saved_replies`,
	`account_id, mannequin FROM claims`,
	`id, url, events, active FROM hooks`,
	`id, permissions, suspended_at FROM installations`,
	`id, name FROM plants`,
}

// digest is a text of each of the holdings.
func (w *walker) digest(t *testing.T) []string {
	t.Helper()
	w.settle(t)
	out := make([]string, len(holdings))
	err := w.DB.Read(t.Context(), func(tx *db.Tx) error {
		for i, holding := range holdings {
			columns, from, _ := strings.Cut(holding, " FROM ")
			var list []string
			err := db.QueryEach(tx, func(row db.Scanner) error {
				var text string
				err := row.Scan(&text)
				list = append(list, text)
				return err
			}, `SELECT COALESCE(CAST(`+strings.ReplaceAll(columns, ", ",
				` AS TEXT), '') || '/' || COALESCE(CAST(`)+` AS TEXT), '') FROM `+from)
			if err != nil {
				return fmt.Errorf("%s: %w", holding, err)
			}
			slices.Sort(list)
			out[i] = strings.Join(list, "\n")
		}
		return nil
	})
	testkit.NoError(t, err)
	return out
}

// unchanged fails where the holdings are not those of before.
func (w *walker) unchanged(t *testing.T, what string, before []string) {
	t.Helper()
	for i, after := range w.digest(t) {
		if after != before[i] {
			t.Errorf("%s changed something though it was refused: %s\nbefore %s\nafter  %s", what, holdings[i],
				before[i], after)
		}
	}
}

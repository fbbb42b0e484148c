package forge

import (
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/hook"
)

// Fate is what happens to a column that refers to a deleted account.
type Fate uint8

// Fates of a column.
const (
	Refused Fate = iota // an account with a row cannot be deleted
	Given               // is set to ghost
	Dropped             // the row is deleted
	Emptied             // is set to NULL
	Kept                // is kept as a record
	Posted              // package issue, pull or deleted handles it with what depends on it
	Added               // its count is added to that of ghost, or of the repositories' owners
)

// AccountColumn is a column that refers to an account.
type AccountColumn struct {
	Table, Column string
	Fate          Fate
	// A condition; other rows have another entry, or refer to something else.
	Only string
}

// AccountColumns lists all columns that refer to an account. A test compares it with the tables of both
// engines.
var AccountColumns = []AccountColumn{
	{"repos", "owner_id", Refused, ""},
	{"apps", "owner_id", Refused, ""},
	{"apps", "bot_id", Refused, ""}, // a bot is deleted after its App

	{"members", "org_id", Dropped, ""},
	{"members", "user_id", Dropped, ""}, // the last owner cannot be deleted
	{"collaborators", "user_id", Dropped, ""},
	{"team_members", "user_id", Dropped, ""},
	{"teams", "org_id", Dropped, ""},
	{"invitations", "org_id", Dropped, ""},
	{"invitations", "invitee_id", Dropped, ""},
	{"invitations", "inviter_id", Dropped, ""},
	{"tokens", "account_id", Dropped, ""},
	{"oauth_apps", "owner_id", Dropped, ""},
	{"oauth_grants", "account_id", Dropped, ""},
	{"oauth_restrictions", "org_id", Dropped, ""},
	{"oauth_approvals", "org_id", Dropped, ""},
	{"device_requests", "account_id", Dropped, ""},
	{"device_misses", "account_id", Dropped, ""},
	{"emails", "account_id", Dropped, ""},
	{"mails", "account_id", Dropped, ""},
	{"mail_links", "account_id", Dropped, ""},
	{"signup_links", "inviter_id", Dropped, ""},
	{"signup_links", "org_id", Dropped, ""},
	{"totps", "account_id", Dropped, ""},
	{"recovery_codes", "account_id", Dropped, ""},
	{"passkeys", "account_id", Dropped, ""},
	{"factor_rules", "org_id", Dropped, ""},
	{"identities", "account_id", Dropped, ""},
	{"mannequins", "account_id", Dropped, ""},
	{"mannequin_repos", "account_id", Dropped, ""},
	{"passkey_challenges", "account_id", Dropped, ""},
	{"installations", "account_id", Dropped, ""},
	{"installation_suspensions", "account_id", Dropped, ""},
	{"ssh_keys", "account_id", Dropped, ""},
	{"ssh_keys", "added_by", Dropped, ""}, // deploy keys: nobody would be responsible for them
	{"signing_keys", "account_id", Dropped, ""},
	{"saved_replies", "account_id", Dropped, ""},
	{"claims", "account_id", Dropped, ""},
	{"pins", "account_id", Dropped, ""},
	{"plants", "owner_id", Dropped, ""},
	{"repo_redirects", "owner_id", Dropped, ""},
	{"stars", "user_id", Dropped, ""}, // triggers update the counts of stars and watches
	{"watches", "user_id", Dropped, ""},
	{"mark_counts", "user_id", Dropped, ""},
	{"silences", "user_id", Dropped, ""},
	{"followers", "user_id", Dropped, ""},
	{"followers", "target_id", Dropped, ""},
	{"requested_reviewers", "user_id", Dropped, ""},
	{"auto_merges", "enabled_by", Dropped, ""},
	{"queue_entries", "enqueued_by", Dropped, ""},
	{"viewed_files", "user_id", Dropped, ""},
	{"lfs_locks", "owner_id", Dropped, ""},
	{"issue_subscriptions", "user_id", Dropped, ""},
	{"notification_threads", "user_id", Dropped, ""},
	{"notification_wishes", "user_id", Dropped, ""},
	{"notification_inboxes", "user_id", Dropped, ""},
	{"notification_settings", "user_id", Dropped, ""},
	{"reactions", "user_id", Dropped, ""},
	{"rulesets", "org_id", Dropped, ""},
	{"hooks", "org_id", Dropped, ""}, // unless it still has to deliver the deletion
	// It no longer counts for a quota.
	{"brought", "user_id", Dropped, ""},
	{"discarded", "owner_id", Dropped, ""},                          // the sweep removes the directories
	{"reviews", "author_id", Dropped, "state = 1"},                  // visible only to their author
	{"hook_deliveries", "actor_id", Dropped, "payload IS NOT NULL"}, // the delivered payload names it

	{"deleted_milestones", "actor_id", Given, ""},
	{"issues", "author_id", Given, ""},
	{"issues", "closed_by", Given, ""},
	{"issues", "pinned_by", Given, ""},
	{"issue_comments", "author_id", Given, ""},
	{"issue_comments", "pinned_by", Given, ""},
	{"issue_events", "actor_id", Given, ""},
	{"issue_events", "user_id", Given, ""},
	{"text_edits", "editor_id", Given, ""},
	{"text_edits", "deleted_by", Given, ""},
	{"commit_comment_edits", "editor_id", Given, ""},
	{"commit_comment_edits", "deleted_by", Given, ""},
	{"rulesets", "creator_id", Given, ""},
	{"milestones", "creator_id", Given, ""},
	{"statuses", "creator_id", Given, ""},
	{"oauth_approvals", "asked_by", Emptied, ""},
	{"deployments", "creator_id", Given, ""},
	{"deployment_statuses", "creator_id", Given, ""},
	{"pushed_commits", "actor_id", Given, ""},
	{"pulls", "head_owner_id", Given, ""},
	{"pulls", "merged_by", Given, ""},
	{"pulls", "pushed_by", Given, ""},
	{"rule_suites", "actor_id", Given, ""},
	{"merge_groups", "made_by", Given, ""},
	{"reviews", "author_id", Given, ""},
	{"review_comments", "author_id", Given, ""},
	{"resolved_threads", "resolved_by", Given, ""},
	{"commit_comments", "author_id", Given, ""},
	{"releases", "author_id", Given, ""},
	{"releases", "publisher_id", Given, ""},
	{"release_assets", "uploader_id", Given, ""},
	{"attachments", "uploader_id", Given, ""},
	{"activities", "actor_id", Given, ""},
	{"notification_acts", "actor_id", Given, ""},
	{"activities", "subject_id", Given, "kind = 6"}, // the new collaborator

	{"hook_deliveries", "actor_id", Given, ""},

	{"activities", "org_id", Emptied, ""},
	{"mirrors", "created_by", Emptied, ""},       // they stop, see package mirror
	{"import_jobs", "asked_by", Emptied, ""},     // they end, see package migration/job
	{"former_logins", "account_id", Emptied, ""}, // the logins stay reserved

	{"audit", "actor_id", Kept, ""}, // with the logins at the time
	{"audit", "org_id", Kept, ""},
	{"audit", "user_id", Kept, ""},

	{"text_counts", "account_id", Added, ""}, // to that of ghost
	{"files", "payer_id", Added, ""},         // to the owner of the repository

	{"issues", "assignees", Posted, ""},
	{"postings", "value", Posted, "kind IN (2, 3, 6, 7)"},
	{"posting_counts", "value", Posted, "kind IN (2, 3, 6, 7)"},
	{"pull_branches", "owner_id", Posted, ""},
	{"kept_repos", "owner_id", Posted, ""}, // package deleted handles them
}

// where returns the condition for rows that refer to the account $1.
func (c AccountColumn) where() string {
	where := c.Column + ` = $1`
	if c.Only != "" {
		where += ` AND ` + c.Only
	}
	return where
}

// orgsOf returns the organizations of a user.
func orgsOf(tx *db.Tx, id account.ID) ([]account.ID, error) {
	return db.QueryIDs[account.ID](tx, `SELECT org_id FROM members WHERE user_id = $1`, id)
}

// dropRows deletes the rows that are deleted with an account.
func dropRows(tx *db.Tx, id account.ID) error {
	// Decrement the counts of followed accounts and followers.
	for _, count := range [...]string{
		`UPDATE accounts SET followers = followers - 1 WHERE id IN (SELECT target_id FROM followers WHERE user_id = $1)`,
		`UPDATE accounts SET following = following - 1 WHERE id IN (SELECT user_id FROM followers WHERE target_id = $1)`,
		`UPDATE accounts SET site_admin = FALSE WHERE id = $1`,
	} {
		if _, err := tx.Exec(count, id); err != nil {
			return err
		}
	}
	for _, c := range AccountColumns {
		if c.Fate != Dropped {
			continue
		}
		if _, err := tx.Exec(fmt.Sprintf(`DELETE FROM %s WHERE %s`, c.Table, c.where()), id); err != nil {
			return err
		}
	}
	return nil
}

// giveRows sets the account's columns to ghost or NULL.
func giveRows(tx *db.Tx, id, ghost account.ID) error {
	if err := tx.Run(`INSERT INTO text_counts AS t (account_id, bytes, hour, hour_bytes)
		SELECT CAST($2 AS BIGINT), bytes, 0, 0 FROM text_counts WHERE account_id = $1
		ON CONFLICT (account_id) DO UPDATE SET bytes = t.bytes + excluded.bytes`, id, ghost); err != nil {
		return err
	}
	if err := tx.Run(`UPDATE repos SET files_kb = files_kb + (SELECT CAST(SUM((size + 1023) / 1024) AS BIGINT)
			FROM files f WHERE f.payer_id = $1 AND f.repo_id = repos.id)
		WHERE id IN (SELECT repo_id FROM files WHERE payer_id = $1)`, id); err != nil {
		return err
	}
	if err := tx.Run(`UPDATE files SET payer_id = NULL WHERE payer_id = $1`, id); err != nil {
		return err
	}
	if err := hook.ForgetActor(tx, id); err != nil {
		return err
	}
	for _, c := range AccountColumns {
		var err error
		switch c.Fate {
		case Given:
			_, err = tx.Exec(fmt.Sprintf(`UPDATE %s SET %s = $2 WHERE %s`, c.Table, c.Column, c.where()), id,
				ghost)
		case Emptied:
			_, err = tx.Exec(fmt.Sprintf(`UPDATE %s SET %s = NULL WHERE %s`, c.Table, c.Column, c.where()),
				id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

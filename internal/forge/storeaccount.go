package forge

import (
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/hook"
)

// Fate is what becomes of a column that names a deleted account.
type Fate uint8

// The fates.
const (
	Refused Fate = iota // deletion is refused while there is a row
	Given               // ghost stands there afterwards
	Dropped             // the row goes
	Emptied             // NULL stands there afterwards
	Kept                // it stays: a record of what was
	Posted              // package issue or pull does it, with the index of issues
	Added               // what counts for it is added to what counts for ghost, or for owners of repositories
)

// AccountColumn is a column that names an account.
type AccountColumn struct {
	Table, Column string
	Fate          Fate
	// a condition; rows for which it does not hold have another line, or are no account's
	Only string
}

// AccountColumns are all columns of all tables that name an account. A test holds them
// against the tables of both engines.
var AccountColumns = []AccountColumn{
	{"repos", "owner_id", Refused, ""},
	{"apps", "owner_id", Refused, ""},
	{"apps", "bot_id", Refused, ""}, // a bot goes after its App

	{"members", "org_id", Dropped, ""},
	{"members", "user_id", Dropped, ""}, // of the last owner it is refused
	{"collaborators", "user_id", Dropped, ""},
	{"tokens", "account_id", Dropped, ""},
	{"device_requests", "account_id", Dropped, ""},
	{"device_misses", "account_id", Dropped, ""},
	{"emails", "account_id", Dropped, ""},
	{"installations", "account_id", Dropped, ""},
	{"installation_suspensions", "account_id", Dropped, ""},
	{"ssh_keys", "account_id", Dropped, ""},
	{"ssh_keys", "added_by", Dropped, ""}, // deploy keys: nobody answers for them any more
	{"plants", "owner_id", Dropped, ""},
	{"repo_redirects", "owner_id", Dropped, ""},
	{"stars", "user_id", Dropped, ""}, // triggers count stars and watches
	{"watches", "user_id", Dropped, ""},
	{"mark_counts", "user_id", Dropped, ""},
	{"silences", "user_id", Dropped, ""},
	{"followers", "user_id", Dropped, ""},
	{"followers", "target_id", Dropped, ""},
	{"requested_reviewers", "user_id", Dropped, ""},
	{"viewed_files", "user_id", Dropped, ""},
	{"issue_subscriptions", "user_id", Dropped, ""},
	{"notification_threads", "user_id", Dropped, ""},
	{"notification_wishes", "user_id", Dropped, ""},
	{"notification_inboxes", "user_id", Dropped, ""},
	{"reactions", "user_id", Dropped, ""},
	{"hooks", "org_id", Dropped, ""}, // unless it still tells of the deletion
	// there is no quota any more that it could count in
	{"brought", "user_id", Dropped, ""},
	{"discarded", "owner_id", Dropped, ""},                          // the sweep removes the folders
	{"reviews", "author_id", Dropped, "state = 1"},                  // nobody else has seen it
	{"hook_deliveries", "actor_id", Dropped, "payload IS NOT NULL"}, // what was told names it

	{"deleted_milestones", "actor_id", Given, ""},
	{"issues", "author_id", Given, ""},
	{"issues", "closed_by", Given, ""},
	{"issues", "pinned_by", Given, ""},
	{"issue_comments", "author_id", Given, ""},
	{"issue_comments", "pinned_by", Given, ""},
	{"issue_events", "actor_id", Given, ""},
	{"issue_events", "user_id", Given, ""},
	{"milestones", "creator_id", Given, ""},
	{"statuses", "creator_id", Given, ""},
	{"pushed_commits", "actor_id", Given, ""},
	{"pulls", "head_owner_id", Given, ""},
	{"pulls", "merged_by", Given, ""},
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
	{"activities", "subject_id", Given, "kind = 6"}, // who joined a repository

	{"hook_deliveries", "actor_id", Given, ""},

	{"activities", "org_id", Emptied, ""},
	{"former_logins", "account_id", Emptied, ""}, // and nobody gets the logins

	{"audit", "actor_id", Kept, ""}, // with the logins as they were
	{"audit", "org_id", Kept, ""},
	{"audit", "user_id", Kept, ""},

	{"text_counts", "account_id", Added, ""}, // to ghost's
	{"files", "payer_id", Added, ""},         // to the owner's of the repository

	{"issues", "assignees", Posted, ""},
	{"postings", "value", Posted, "kind IN (2, 3, 6, 7)"},
	{"posting_counts", "value", Posted, "kind IN (2, 3, 6, 7)"},
	{"pull_branches", "owner_id", Posted, ""},
}

// where is the condition for a row that names the account $1.
func (c AccountColumn) where() string {
	where := c.Column + ` = $1`
	if c.Only != "" {
		where += ` AND ` + c.Only
	}
	return where
}

// orgsOf lists the organizations to which a user belongs.
func orgsOf(tx *db.Tx, id account.ID) ([]account.ID, error) {
	return db.QueryIDs[account.ID](tx, `SELECT org_id FROM members WHERE user_id = $1`, id)
}

// dropRows removes the rows that go with an account.
func dropRows(tx *db.Tx, id account.ID) error {
	// Whom it followed, and who followed it, have one less.
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

// giveRows lets ghost stand, or nobody, where the account stands.
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

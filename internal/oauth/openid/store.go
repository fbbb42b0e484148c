package openid

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

// signingKey finds the key that signs. Error: errs.Absent.
func signingKey(tx *db.Tx) (*key, error) {
	k := &key{}
	err := tx.QueryRow(`SELECT id, private, created_at FROM openid_keys WHERE retired_at IS NULL
		ORDER BY created_at DESC, id LIMIT 1`).Scan(&k.id, &k.private, &k.created)
	return k, account.OrAbsent(err)
}

// publishedKeys lists the keys that clients get, the newest first.
func publishedKeys(tx *db.Tx) ([]*key, error) {
	return db.QueryList(tx, func(row db.Scanner) (*key, error) {
		k := &key{}
		return k, row.Scan(&k.id, &k.private, &k.created)
	}, `SELECT id, private, created_at FROM openid_keys WHERE retired_at IS NULL OR retired_at > $1
		ORDER BY created_at DESC, id LIMIT 100`, tx.Now-db.Time(keyStay.Microseconds()))
}

// putKey stores a key, which signs from now on. Those that were retired before a time are removed.
func putKey(tx *db.Tx, k *key, before db.Time) error {
	if err := tx.Run(`UPDATE openid_keys SET retired_at = $1 WHERE retired_at IS NULL`, tx.Now); err != nil {
		return err
	}
	if err := tx.Run(`DELETE FROM openid_keys WHERE retired_at < $1`, before); err != nil {
		return err
	}
	k.created = tx.Now
	return tx.Run(`INSERT INTO openid_keys (id, private, created_at) VALUES ($1, $2, $3)`, k.id, k.private, tx.Now)
}

func countApps(tx *db.Tx) (n int64, err error) {
	err = tx.QueryRow(`SELECT COUNT(*) FROM oauth_apps WHERE github_app_id IS NULL`).Scan(&n)
	return n, err
}

// emailOf finds the verified address of an account: that of its profile, else the oldest; empty: there is
// none. It is written as in the profile.
func emailOf(tx *db.Tx, a *account.Account) (string, error) {
	list, err := db.QueryTexts(tx, `SELECT address FROM emails WHERE account_id = $1 AND verified = TRUE
		ORDER BY created_at, address`, a.ID)
	if err != nil || len(list) == 0 {
		return "", err
	}
	for _, address := range list {
		if a.Email != nil && account.Fold(*a.Email) == address {
			return *a.Email, nil
		}
	}
	return list[0], nil
}

// groupsOf lists the organizations of a user, and the teams as ORGANIZATION/TEAM, also those to whose members
// the members of a team below belong, by name. They are at most so many: the organizations, then the first team of
// each, the second of each and so on, those of older organizations first, so that nobody who owns an organization
// pushes out all teams of another. Of organizations that are closed to the caller's OAuth App, only public
// memberships count.
func groupsOf(tx *db.Tx, of *account.Caller, limit int) ([]string, error) {
	return db.QueryTexts(tx, `SELECT g.name FROM (
			SELECT f.name, f.folded, f.slug FROM (
				SELECT o.id AS org_id, o.login AS name, o.login_folded AS folded, '' AS slug, 0 AS turn
				FROM members m JOIN accounts o ON o.id = m.org_id
				WHERE m.user_id = $1 AND (m.public = TRUE OR m.user_id = $1`+of.AndOpen("m.org_id")+`)
				UNION ALL
				SELECT o.id, o.login || '/' || t.slug, o.login_folded, t.slug,
					row_number() OVER (PARTITION BY t.org_id ORDER BY t.slug)
				FROM team_members m JOIN teams t ON t.id = m.team_id JOIN accounts o ON o.id = t.org_id
				WHERE m.user_id = $1`+of.AndOpen("t.org_id")+`
			) f ORDER BY f.turn, f.org_id LIMIT $2
		) g ORDER BY g.folded, g.slug`, of.ID, limit)
}

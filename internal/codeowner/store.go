package codeowner

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// pushersNamed calls each for the users with one of the folded logins who may push to the repositories. Suspended
// accounts and site administrators without a role of their own are left out.
func pushersNamed(
	tx *db.Tx, in []repo.ID, logins []string, each func(of repo.ID, id account.ID, login string),
) error {
	return db.InParts(logins, func(part []string) error {
		return pushers(tx, in, `a.login_folded`, len(part), db.Args(part), each)
	})
}

// pushersByID is pushersNamed for ids.
func pushersByID(
	tx *db.Tx, in []repo.ID, ids []account.ID, each func(of repo.ID, id account.ID, login string),
) error {
	return db.InParts(ids, func(part []account.ID) error {
		return pushers(tx, in, `a.id`, len(part), db.Args(part), each)
	})
}

func pushers(
	tx *db.Tx, in []repo.ID, column string, count int, keys []any, each func(of repo.ID, id account.ID, login string),
) error {
	args := append(db.Args(in, account.User, int64(account.Push)), keys...)
	return db.QueryEach(tx, func(row db.Scanner) error {
		var of repo.ID
		var id account.ID
		var login string
		err := row.Scan(&of, &id, &login)
		each(of, id, login)
		return err
	}, `SELECT r.id, a.id, a.login_folded FROM accounts a JOIN repos r ON r.id IN `+db.ValuesFrom(3, 1, len(in))+`
		JOIN accounts o ON o.id = r.owner_id
		LEFT JOIN members m ON m.org_id = r.owner_id AND m.user_id = a.id
		LEFT JOIN collaborators c ON c.repo_id = r.id AND c.user_id = a.id
		WHERE a.kind = $1 AND a.suspended_at IS NULL
			AND (a.id = r.owner_id OR m.owner = TRUE OR c.role >= $2 OR m.user_id IS NOT NULL AND o.default_role >= $2)
			AND `+column+` IN `+db.ValuesFrom(3+len(in), 1, count), args...)
}

// teamsNamed returns the teams of the folded names @ORG/SLUG that count in the repositories, each with those of the
// accounts who are its members. There are no teams yet: none counts.
func teamsNamed(*db.Tx, []repo.ID, []string, []account.ID) (map[named][]account.ID, error) {
	return nil, nil
}

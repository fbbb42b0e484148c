package account

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/fulltext"
)

// setLogin stores another login. Error: db.ErrUnique when it is taken.
func setLogin(tx *db.Tx, a *Account, login string) error {
	a.Login, a.UpdatedAt = login, tx.Now
	_, err := tx.Exec(`UPDATE accounts SET login = $2, login_folded = $3, updated_at = $4 WHERE id = $1`,
		a.ID, login, Fold(login), tx.Now)
	if err != nil {
		return err
	}
	if err := fulltext.NoteAccount(tx, int64(a.ID)); err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// removeAccount removes an account that nothing refers to any longer. Error: db.ErrForeignKey if
// something does.
func removeAccount(tx *db.Tx, id ID) error {
	if _, err := tx.Exec(`DELETE FROM accounts WHERE id = $1`, id); err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// ownedNames lists some of the repositories of an account, and says how many there are. Those that are being
// deleted are none of them.
func ownedNames(tx *db.Tx, id ID, most int64) (names []string, all int64, err error) {
	const from = ` FROM repos r WHERE owner_id = $1
		AND NOT EXISTS (SELECT 1 FROM deleted_repos d WHERE d.repo_id = r.id)
		AND NOT EXISTS (SELECT 1 FROM kept_repos k WHERE k.repo_id = r.id)`
	names, err = db.QueryTexts(tx, `SELECT name`+from+` ORDER BY name_folded LIMIT $2`, id, most)
	if err != nil || int64(len(names)) < most {
		return names, int64(len(names)), err
	}
	err = tx.QueryRow(`SELECT count(*)`+from, id).Scan(&all)
	return names, all, err
}

// countDeletedRepos counts the repositories of an account that are being deleted.
func countDeletedRepos(tx *db.Tx, id ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM deleted_repos d JOIN repos r ON r.id = d.repo_id
		WHERE r.owner_id = $1`, id).Scan(&n)
	return n, err
}

// lastOwned lists the organizations whose only owner is the user. It holds the
// rows of all to which the user belongs until the transaction ends.
func lastOwned(tx *db.Tx, userID ID) ([]string, error) {
	_, err := tx.Exec(`UPDATE accounts SET kind = kind
		WHERE id IN (SELECT org_id FROM members WHERE user_id = $1)`, userID)
	if err != nil {
		return nil, err
	}
	return db.QueryTexts(tx, `SELECT o.login FROM members m JOIN accounts o ON o.id = m.org_id
		WHERE m.user_id = $1 AND m.owner = TRUE AND NOT EXISTS (SELECT 1 FROM members x
			WHERE x.org_id = m.org_id AND x.owner = TRUE AND x.user_id <> m.user_id)
			ORDER BY o.login_folded`, userID)
}

// formerly reports whether a login was given up, and the account that had it; 0: that is
// deleted. Ask after the login was taken: the transaction that gave it up has ended then.
func formerly(tx *db.Tx, folded string) (id ID, was bool, err error) {
	err = tx.QueryRow(`SELECT COALESCE(account_id, 0) FROM former_logins WHERE login_folded = $1`,
		folded).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		return 0, false, nil
	}
	return id, err == nil, err
}

// retireLogin notes a login that an account gave up.
func retireLogin(tx *db.Tx, folded string, id ID) error {
	_, err := tx.Exec(`INSERT INTO former_logins (login_folded, account_id, created_at) VALUES ($1, $2, $3)`,
		folded, id, tx.Now)
	return err
}

// reviveLogin forgets that a login was given up.
func reviveLogin(tx *db.Tx, folded string) error {
	_, err := tx.Exec(`DELETE FROM former_logins WHERE login_folded = $1`, folded)
	return err
}

// formerLogins lists the logins that an account gave up, folded.
func formerLogins(tx *db.Tx, id ID) ([]string, error) {
	return db.QueryTexts(tx,
		`SELECT login_folded FROM former_logins WHERE account_id = $1 ORDER BY login_folded`, id)
}

// byFormerLogins adds the accounts that had one of the logins, under that login.
func byFormerLogins(tx *db.Tx, logins []string, found map[string]*Account) error {
	args := make([]any, 0, len(logins))
	for _, l := range logins {
		if found[l] == nil && Plausible(l) {
			args = append(args, l)
		}
	}
	if len(args) == 0 {
		return nil
	}
	return db.QueryEach(tx, func(row db.Scanner) error {
		var login string
		a, err := scanAccount(row, &login)
		if err != nil {
			return err
		}
		found[login] = a
		return nil
	}, `SELECT `+accountColumns+`, f.login_folded FROM former_logins f
		JOIN accounts a ON a.id = f.account_id WHERE f.login_folded IN `+db.Values(1, len(args)), args...)
}

package account

import (
	"errors"
	"slices"

	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/fulltext"
)

// accountColumns are what scanAccount reads, of accounts under the name a.
const accountColumns = `a.id, a.login, a.kind, a.name, a.email, a.company, a.blog, a.location, a.bio,
	a.site_admin, a.default_role, a.private_forks, a.no_new_repos, a.no_public_repos,
	a.no_private_repos, a.billing_email, a.public_repos, a.private_repos,
	CASE WHEN a.private_repos = 0 THEN 0
		ELSE (SELECT count(*) FROM withdrawn_forks w WHERE w.owner_id = a.id) END,
	a.followers, a.following, a.suspended_at, a.created_at, a.updated_at`

// scanAccount reads accountColumns, and then the query's other columns.
func scanAccount(row db.Scanner, more ...any) (*Account, error) {
	var a Account
	var kind, role int64
	dest := append([]any{&a.ID, &a.Login, &kind, &a.Name, &a.Email, &a.Company, &a.Blog, &a.Location, &a.Bio,
		&a.SiteAdmin, &role, &a.PrivateForks, &a.Creation.NoRepos, &a.Creation.NoPublic,
		&a.Creation.NoPrivate, &a.BillingEmail, &a.PublicRepos, &a.PrivateRepos, &a.Withdrawn,
		&a.Followers, &a.Following, &a.SuspendedAt, &a.CreatedAt, &a.UpdatedAt}, more...)
	if err := row.Scan(dest...); err != nil {
		return nil, err
	}
	a.Kind, a.DefaultRole = Kind(kind), Role(role)
	a.PrivateRepos -= a.Withdrawn
	return &a, nil
}

const selectAccounts = `SELECT ` + accountColumns + ` FROM accounts a`

// Query reads accounts. rest follows FROM accounts a.
func Query(tx *db.Tx, rest string, args ...any) ([]*Account, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Account, error) {
		return scanAccount(row)
	}, selectAccounts+rest, args...)
}

// OrAbsent turns a missing row into the 404 of decision 13.
func OrAbsent(err error) error {
	if errors.Is(err, db.ErrNoRows) {
		return errs.Absent()
	}
	return err
}

// ByLogin finds a person or an organization without regard to case. Errors:
// errs.Absent when there is none.
func ByLogin(tx *db.Tx, login string) (*Account, error) {
	if !Plausible(login) {
		return nil, errs.Absent()
	}
	a, err := scanAccount(tx.QueryRow(`SELECT `+accountColumns+` FROM accounts a WHERE a.login_folded = $1`,
		Fold(login)))
	return a, OrAbsent(err)
}

// ByID finds a person or an organization. Errors: errs.Absent when there is none.
func ByID(tx *db.Tx, id ID) (*Account, error) {
	a, err := scanAccount(tx.QueryRow(`SELECT `+accountColumns+` FROM accounts a WHERE a.id = $1`, id))
	return a, OrAbsent(err)
}

// ByIDs finds the accounts of a page in one query. Ids may repeat; those that
// are not there are missing from the map.
func ByIDs(tx *db.Tx, ids []ID) (map[ID]*Account, error) {
	found := make(map[ID]*Account, len(ids))
	ids = slices.DeleteFunc(slices.Clone(ids), func(id ID) bool { return id == 0 })
	if len(ids) == 0 {
		return found, nil
	}
	query, args := whereIDs(ids)
	list, err := Query(tx, query, args...)
	for _, a := range list {
		found[a.ID] = a
	}
	return found, err
}

func whereIDs(ids []ID) (query string, args []any) {
	args = distinct(ids)
	return ` WHERE a.id IN ` + db.Values(1, len(args)), args
}

// distinct drops repeated ids and fills up to a power of two with the last one,
// so that lists of all lengths share a few prepared statements.
func distinct(ids []ID) []any {
	seen := make(map[ID]struct{}, len(ids))
	args := make([]any, 0, 2*len(ids))
	for _, id := range ids {
		if _, ok := seen[id]; !ok {
			seen[id] = struct{}{}
			args = append(args, id)
		}
	}
	for len(args)&(len(args)-1) != 0 {
		args = append(args, args[len(args)-1])
	}
	return args
}

// CountRepos adds to the owner's counters of repositories: code that creates,
// deletes or hides one calls it in the same transaction.
func CountRepos(tx *db.Tx, ownerID ID, public, private int64) error {
	_, err := tx.Exec(`UPDATE accounts SET public_repos = public_repos + $2,
		private_repos = private_repos + $3
		WHERE id = $1`, ownerID, public, private)
	if err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// insertAccount stores a new account and sets its ID and times. Errors:
// db.ErrNoRows when the login is taken.
func insertAccount(tx *db.Tx, a *Account) error {
	a.CreatedAt, a.UpdatedAt = tx.Now, tx.Now
	err := tx.QueryRow(`INSERT INTO accounts (login, login_folded, kind, name, email, site_admin,
			default_role, created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $8) ON CONFLICT DO NOTHING RETURNING id`,
		a.Login, Fold(a.Login), int64(a.Kind), a.Name, a.Email, a.SiteAdmin, int64(a.DefaultRole),
		tx.Now).Scan(&a.ID)
	if err != nil {
		return err
	}
	if err := fulltext.NoteAccount(tx, int64(a.ID)); err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// updateAccount stores what a profile may change, and sets UpdatedAt.
func updateAccount(tx *db.Tx, a *Account) error {
	a.UpdatedAt = tx.Now
	_, err := tx.Exec(`UPDATE accounts SET name = $2, email = $3, company = $4, blog = $5, location = $6,
		bio = $7,
		default_role = $8, updated_at = $9, private_forks = $10, no_new_repos = $11, no_public_repos = $12,
		no_private_repos = $13, billing_email = $14 WHERE id = $1`,
		a.ID, a.Name, a.Email, a.Company, a.Blog, a.Location, a.Bio, int64(a.DefaultRole), a.UpdatedAt,
		a.PrivateForks, a.Creation.NoRepos, a.Creation.NoPublic, a.Creation.NoPrivate, a.BillingEmail)
	if err != nil {
		return err
	}
	if err := fulltext.NoteAccount(tx, int64(a.ID)); err != nil {
		return err
	}
	return tx.Bump(Topic)
}

// setTimeZone stores the time zone of an account, and reports whether it was another one.
func setTimeZone(tx *db.Tx, id ID, name string) (changed bool, err error) {
	n, err := tx.Exec(`UPDATE accounts SET time_zone = $2 WHERE id = $1 AND time_zone <> $2`, id, name)
	if err != nil || n == 0 {
		return false, err
	}
	return true, tx.Bump(Topic)
}

// lockAccount locks the account's row until the transaction ends, so that checks of it and its members stay
// valid (PostgreSQL; SQLite has one writer anyway).
func lockAccount(tx *db.Tx, id ID) error {
	_, err := tx.Exec(`UPDATE accounts SET kind = kind WHERE id = $1`, id)
	return err
}

// Lock holds an account until the transaction ends.
func Lock(tx *db.Tx, id ID) error { return lockAccount(tx, id) }

// accountsAfter lists accounts of all kinds but mannequins by id, beginning after since.
func accountsAfter(tx *db.Tx, since ID, limit int64) ([]*Account, error) {
	return Query(tx, ` WHERE a.id > $1 AND a.kind <> 4 ORDER BY a.id LIMIT $2`, since, limit)
}

// orgsAfter lists organizations by id, beginning after since.
func orgsAfter(tx *db.Tx, since ID, limit int64) ([]*Account, error) {
	return Query(tx, ` WHERE a.id > $1 AND a.kind = 2 ORDER BY a.id LIMIT $2`, since, limit)
}

// ByLogins reads accounts by login in one query. The keys of the result are folded; unknown logins are
// missing.
func ByLogins(tx *db.Tx, logins []string) (map[string]*Account, error) {
	found := make(map[string]*Account, len(logins))
	args := make([]any, 0, len(logins))
	for _, l := range logins {
		if !Plausible(l) {
			continue
		}
		args = append(args, Fold(l))
	}
	if len(args) == 0 {
		return found, nil
	}
	list, err := Query(tx, ` WHERE a.login_folded IN `+db.Values(1, len(args)), args...)
	for _, a := range list {
		found[Fold(a.Login)] = a
	}
	return found, err
}

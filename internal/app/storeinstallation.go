package app

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/scope"
)

const installationColumns = `i.id, i.app_id, i.account_id, i.every, i.permissions, i.events, i.suspended_at,
	i.created_at, i.updated_at`

// installationsWhere reads installations with their Apps and accounts, by id. rest follows FROM.
func installationsWhere(tx *db.Tx, rest string, args ...any) (list []*Installation, err error) {
	var apps []account.AppID
	var places []account.ID
	err = db.QueryEach(tx, func(row db.Scanner) error {
		i := &Installation{App: &App{}, Account: &account.Account{}}
		var permissions, events string
		err := row.Scan(&i.ID, &i.App.ID, &i.Account.ID, &i.Every, &permissions, &events, &i.SuspendedAt,
			&i.CreatedAt, &i.UpdatedAt)
		if err != nil {
			return err
		}
		i.Permissions, i.Events = scope.ParsePermissions(permissions), splitEvents(events)
		list, apps, places = append(list, i), append(apps, i.App.ID), append(places, i.Account.ID)
		return nil
	}, `SELECT `+installationColumns+` FROM installations i `+rest, args...)
	if err != nil {
		return nil, err
	}
	found, err := findApps(tx, apps)
	if err != nil {
		return nil, err
	}
	people, err := account.ByIDs(tx, places)
	for _, i := range list {
		i.App, i.Account = found[i.App.ID], people[i.Account.ID]
	}
	return list, err
}

// oneInstallation is installationsWhere for a condition that one fulfils. Error: 404.
func oneInstallation(tx *db.Tx, rest string, args ...any) (*Installation, error) {
	list, err := installationsWhere(tx, rest, args...)
	if err == nil && len(list) == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// InstallationByID finds an installation. Error: 404.
func InstallationByID(tx *db.Tx, id account.InstallationID) (*Installation, error) {
	return oneInstallation(tx, `WHERE i.id = $1`, id)
}

// installationOn finds an App's installation on an account. Error: 404.
func installationOn(tx *db.Tx, appID account.AppID, on account.ID) (*Installation, error) {
	return oneInstallation(tx, `WHERE i.app_id = $1 AND i.account_id = $2`, appID, on)
}

// installationFor finds the installation by which an App reaches a repository. Error: 404.
func installationFor(tx *db.Tx, appID account.AppID, r *repo.Repo) (*Installation, error) {
	return oneInstallation(tx, `WHERE i.app_id = $1 AND i.account_id = $2 AND `+reaches("i", "$3"),
		appID, r.OwnerID, r.ID)
}

// reaches is the condition that an installation on the owner of a repository reaches it.
func reaches(i, repoID string) string {
	return `(` + i + `.every OR EXISTS (SELECT 1 FROM installation_repos x
		WHERE x.installation_id = ` + i + `.id AND x.repo_id = ` + repoID + `))`
}

// holdInstallation takes the row until the transaction ends. Error: 404.
func holdInstallation(tx *db.Tx, id account.InstallationID) (*Installation, error) {
	n, err := tx.Exec(`UPDATE installations SET every = every WHERE id = $1`, id)
	if err == nil && n == 0 {
		err = errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	return InstallationByID(tx, id)
}

func insertInstallation(tx *db.Tx, i *Installation) error {
	err := tx.QueryRow(`INSERT INTO installations (app_id, account_id, every, permissions, events, created_at,
		updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $6) RETURNING id`,
		i.App.ID, i.Account.ID, i.Every, i.Permissions.String(), joined(i.Events), tx.Now).Scan(&i.ID)
	if errors.Is(err, db.ErrUnique) {
		return errs.Newf(errs.Invalid, "the App %q is installed on %q already", i.App.Slug, i.Account.Login)
	}
	i.CreatedAt, i.UpdatedAt = tx.Now, tx.Now
	if err != nil {
		return err
	}
	return tx.Bump(account.Topic) // tokens by which the App acts for users reach more
}

// updateInstallation writes what can change, with which all that was kept for its tokens counts no longer.
func updateInstallation(tx *db.Tx, i *Installation) error {
	i.UpdatedAt = tx.Now
	err := tx.Run(`UPDATE installations SET every = $2, permissions = $3, events = $4, suspended_at = $5,
		updated_at = $6
		WHERE id = $1`, i.ID, i.Every, i.Permissions.String(), joined(i.Events), i.SuspendedAt, tx.Now)
	if err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

func removeInstallation(tx *db.Tx, id account.InstallationID) error {
	if err := tx.Run(`DELETE FROM installations WHERE id = $1`, id); err != nil {
		return err
	}
	return tx.Bump(account.Topic)
}

// addRepos adds repositories that the account has to an installation for selected ones, and returns those
// that are new.
func addRepos(tx *db.Tx, i *Installation, ids []repo.ID) ([]repo.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return db.QueryIDs[repo.ID](tx, `INSERT INTO installation_repos (installation_id, repo_id)
		SELECT CAST($1 AS BIGINT), r.id FROM repos r WHERE r.owner_id = $2 AND r.id IN `+
		db.ValuesFrom(3, 1, len(ids))+` ON CONFLICT DO NOTHING RETURNING repo_id`,
		db.Args(ids, i.ID, i.Account.ID)...)
}

// dropRepo takes a repository from an installation for some, and reports whether it was there.
func dropRepo(tx *db.Tx, id account.InstallationID, repoID repo.ID) (bool, error) {
	n, err := tx.Exec(`DELETE FROM installation_repos WHERE installation_id = $1 AND repo_id = $2`,
		id, repoID)
	return n > 0, err
}

// countRepos counts the repositories of an installation for some.
func countRepos(tx *db.Tx, id account.InstallationID) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM installation_repos WHERE installation_id = $1`, id).Scan(&n)
	return n, err
}

// reachedRepos returns those of the given repositories that an installation reaches, in the order of their
// ids. Of withdrawn forks, which the account does not see, it reaches none.
func reachedRepos(tx *db.Tx, i *Installation, ids []repo.ID) ([]repo.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	where := ` AND ` + repo.NotWithdrawn("r")
	if !i.Every {
		where += ` AND EXISTS (SELECT 1 FROM installation_repos x WHERE x.installation_id = ` +
			i.ID.String() + ` AND x.repo_id = r.id)`
	}
	return db.QueryIDs[repo.ID](tx, `SELECT r.id FROM repos r WHERE r.owner_id = $1 AND r.id IN `+
		db.ValuesFrom(2, 1, len(ids))+where+` ORDER BY r.id`, db.Args(ids, i.Account.ID)...)
}

// reposNamed finds repositories of an account by their names. Those that are not there are missing, and
// withdrawn forks.
func reposNamed(tx *db.Tx, owner account.ID, names []string) ([]repo.ID, error) {
	if len(names) == 0 {
		return nil, nil
	}
	args := []any{owner}
	for _, n := range names {
		args = append(args, account.Fold(n))
	}
	return db.QueryIDs[repo.ID](tx, `SELECT r.id FROM repos r WHERE r.owner_id = $1 AND r.name_folded IN `+
		db.ValuesFrom(2, 1, len(names))+` AND `+repo.NotWithdrawn("r")+` ORDER BY r.id`, args...)
}

func countInstallations(tx *db.Tx, appID account.AppID) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM installations WHERE app_id = $1`, appID).Scan(&n)
	return n, err
}

// Reached is a repository in an event about an installation.
type Reached struct {
	ID       repo.ID
	Name     string
	FullName string
	Private  bool
}

// QueryRepos reads repositories by their ids, regardless of their owners. Without ids it reads those that
// the installation reaches. It returns at most most of them, in the order of their ids.
func QueryRepos(tx *db.Tx, i *Installation, ids []repo.ID, most int) (list []Reached, err error) {
	where, args := `r.id IN `+db.ValuesFrom(2, 1, len(ids)), db.Args(ids, most)
	if len(ids) == 0 {
		where, args = repo.NotWithdrawn("r")+` AND r.owner_id = $2 AND (CAST($3 AS BIGINT) = 0 OR EXISTS (SELECT 1 FROM installation_repos x
			WHERE x.installation_id = $3 AND x.repo_id = r.id))`, []any{most, i.Account.ID, int64(0)}
		if !i.Every {
			args[2] = i.ID
		}
	}
	return db.QueryList(tx, func(row db.Scanner) (r Reached, err error) {
		var owner string
		err = row.Scan(&r.ID, &r.Name, &owner, &r.Private)
		r.FullName = owner + "/" + r.Name
		return r, err
	}, `SELECT r.id, r.name, o.login, r.private FROM repos r JOIN accounts o ON o.id = r.owner_id
		WHERE `+where+` ORDER BY r.id LIMIT $1`, args...)
}

// OwnerOf returns the owner of an App. Error: 404.
func OwnerOf(tx *db.Tx, id account.AppID) (*account.Account, error) {
	a, err := byID(tx, id)
	if err != nil {
		return nil, err
	}
	return a.Owner, nil
}

// awake returns an installation, or nil if it does not exist or it, its account or its App's owner is
// suspended.
func awake(tx *db.Tx, id account.InstallationID) (*Installation, error) {
	i, err := InstallationByID(tx, id)
	switch {
	case errs.Is(err, errs.NotFound):
		return nil, nil
	case err != nil || !i.SuspendedAt.IsZero() || !i.Account.SuspendedAt.IsZero() ||
		!i.App.Owner.SuspendedAt.IsZero():
		return nil, err
	}
	return i, nil
}

// Awake reports whether an installation is there, and neither it nor its account nor the owner of its App is
// suspended.
func Awake(tx *db.Tx, id account.InstallationID) (bool, error) {
	i, err := awake(tx, id)
	return i != nil, err
}

// Reaches reports whether an installation is awake and reaches a repository.
func Reaches(tx *db.Tx, id account.InstallationID, r *repo.Repo) (bool, error) {
	i, err := awake(tx, id)
	switch {
	case err != nil || i == nil:
		return false, err
	case i.Every:
		return r.OwnerID == i.Account.ID, nil
	}
	ids, err := reachedRepos(tx, i, []repo.ID{r.ID})
	return len(ids) == 1, err
}

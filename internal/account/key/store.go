package key

import (
	"errors"

	"arbor/internal/account"
	"arbor/internal/audit"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// keyColumns are what scanKey reads, of ssh_keys under the name k, and a, who added it.
const (
	keyColumns = `k.id, COALESCE(k.account_id, 0), COALESCE(k.repo_id, 0), k.added_by, a.login, k.title, k.public_key, k.fingerprint,
		k.read_only, k.created_at, k.last_used_at`
	keyFrom = ` FROM ssh_keys k JOIN accounts a ON a.id = k.added_by `
)

// scanKey reads keyColumns, and then more columns.
func scanKey(row db.Scanner, more ...any) (*Key, error) {
	var k Key
	err := row.Scan(append([]any{&k.ID, &k.Owner.Account, &k.Owner.Repo, &k.AddedBy, &k.AddedLogin, &k.Title,
		&k.PublicKey, &k.Fingerprint,
		&k.ReadOnly, &k.CreatedAt, &k.LastUsedAt}, more...)...)
	return &k, err
}

func queryKeys(tx *db.Tx, rest string, args ...any) ([]Key, error) {
	return db.QueryList(tx, func(row db.Scanner) (Key, error) {
		k, err := scanKey(row)
		return *k, err
	}, `SELECT `+keyColumns+keyFrom+rest, args...)
}

// condition says in SQL that a key belongs to the owner, whose id is $1.
func (o Owner) condition() (condition string, id int64) {
	if o.Repo != 0 {
		return `k.repo_id = $1`, o.Repo
	}
	return `k.account_id = $1`, int64(o.Account)
}

// List lists all keys of a user or a repository, by id.
func List(tx *db.Tx, o Owner) ([]Key, error) {
	mine, id := o.condition()
	return queryKeys(tx, `WHERE `+mine+` ORDER BY k.id`, id)
}

// ofMany lists all keys of users, or else of repositories, by id.
func ofMany(tx *db.Tx, repos bool, owners []int64) ([]Key, error) {
	column := map[bool]string{false: `k.account_id`, true: `k.repo_id`}[repos]
	return queryKeys(tx, `WHERE `+column+` IN `+db.Values(1, len(owners))+` ORDER BY k.id`, db.Args(owners)...)
}

// Get finds a key of a user or a repository. Error: 404.
func Get(tx *db.Tx, o Owner, id int64) (*Key, error) {
	mine, of := o.condition()
	k, err := scanKey(tx.QueryRow(`SELECT `+keyColumns+keyFrom+`WHERE k.id = $2 AND `+mine, of, id))
	if err != nil {
		return nil, account.OrAbsent(err)
	}
	return k, nil
}

// allKeys reads a page of all keys, by id.
func allKeys(tx *db.Tx, p web.Page) ([]Key, error) {
	return queryKeys(tx, `ORDER BY k.id LIMIT $1 OFFSET $2`, p.Size, p.Offset())
}

func countKeys(tx *db.Tx, o Owner) (n int64, err error) {
	mine, id := o.condition()
	err = tx.QueryRow(`SELECT count(*) FROM ssh_keys k WHERE `+mine, id).Scan(&n)
	return n, err
}

func countAllKeys(tx *db.Tx) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM ssh_keys`).Scan(&n)
	return n, err
}

// insertKey inserts a key; n.Text is its type and base64. Error: Conflict for an existing key.
func insertKey(tx *db.Tx, n *NewKey, fingerprint string) (*Key, error) {
	var accountID, repoID any
	if n.Owner.Repo != 0 {
		repoID = n.Owner.Repo
	} else {
		accountID = n.Owner.Account
	}
	var id int64
	err := tx.QueryRow(`INSERT INTO ssh_keys (account_id, repo_id, added_by, title, public_key, fingerprint,
		read_only, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (fingerprint) DO NOTHING RETURNING id`,
		accountID, repoID, n.AddedBy, n.Title, n.Text, fingerprint, n.ReadOnly, tx.Now).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.New(errs.Conflict, "the key is in use")
	}
	if err != nil {
		return nil, err
	}
	if err := tx.Bump(account.Topic); err != nil {
		return nil, err
	}
	if err := recordKeys(tx, audit.KeyCreate, n.Owner.right(), []int64{id}); err != nil {
		return nil, err
	}
	return Get(tx, n.Owner, id)
}

// Delete ends a key of a user or a repository. Error: 404.
func Delete(tx *db.Tx, o Owner, id int64) error {
	if _, err := Get(tx, o, id); err != nil {
		return err
	}
	return dropKeys(tx, o.right(), []int64{id})
}

// deleteKeys ends keys whosever they are. Those that are not there do not matter, unless none is: 404.
func deleteKeys(tx *db.Tx, ids []int64) error { return dropKeys(tx, audit.SiteAdmin, ids) }

// dropKeys ends keys, by a right for the audit log. Error: 404 if none is there.
func dropKeys(tx *db.Tx, right string, ids []int64) error {
	if err := recordKeys(tx, audit.KeyDelete, right, ids); err != nil {
		return err
	}
	args := make([]any, len(ids))
	for i, id := range ids {
		args[i] = id
	}
	n, err := tx.Exec(`DELETE FROM ssh_keys WHERE id IN `+db.ValuesFrom(1, 1, len(ids)), args...)
	switch {
	case err != nil:
		return err
	case n == 0:
		return errs.Absent()
	}
	return tx.Bump(account.Topic)
}

// right is by which a key is added and removed, for the audit log.
func (o Owner) right() string {
	if o.Repo != 0 {
		return audit.RepoAdmin
	}
	return audit.Self
}

// recordKeys notes in the audit log what happens to keys that are there.
func recordKeys(tx *db.Tx, action audit.Action, right string, ids []int64) error {
	args := []any{account.Organization}
	for _, id := range ids {
		args = append(args, id)
	}
	var list []audit.Entry
	err := db.QueryEach(tx, func(row db.Scanner) error {
		e, fingerprint, ofOrg := audit.Entry{Action: action, Right: right}, "", false
		if err := row.Scan(&fingerprint, &e.User.ID, &e.User.Name, &e.Repo.ID, &e.Repo.Name, &e.Org.ID,
			&e.Org.Name, &ofOrg); err != nil {
			return err
		}
		if !ofOrg {
			e.Org = audit.Named{}
		}
		e.Changes = map[string]any{"fingerprint": fingerprint}
		list = append(list, e)
		return nil
	}, `SELECT k.fingerprint, COALESCE(a.id, 0), COALESCE(a.login, ''), COALESCE(r.id, 0),
			COALESCE(o.login || '/' || r.name, ''), COALESCE(o.id, 0), COALESCE(o.login, ''),
			COALESCE(o.kind = $1, FALSE)
		FROM ssh_keys k LEFT JOIN accounts a ON a.id = k.account_id LEFT JOIN repos r ON r.id = k.repo_id
		LEFT JOIN accounts o ON o.id = r.owner_id
		WHERE k.id IN `+db.ValuesFrom(2, 1, len(ids))+` ORDER BY k.id`, args...)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := audit.Record(tx, e); err != nil {
			return err
		}
	}
	return nil
}

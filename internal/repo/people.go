package repo

import (
	"arbor/internal/account"
	"arbor/internal/db"
)

// Person is an account as one repository knows it.
type Person struct {
	ID           int64
	Login        string
	Kind         account.Kind
	Role         account.Role
	Member       bool // of the organization that owns the repository
	Public       bool // a member, for everyone to see
	Collaborator bool // was granted a role
}

// PeopleNamed finds accounts by their logins and tells their roles on the
// repository, in one query, under account.Fold of the login. Logins that nobody
// has are missing from the map.
func PeopleNamed(tx *db.Tx, r *Repo, logins []string) (map[string]Person, error) {
	keys := make([]any, 0, len(logins))
	for _, l := range logins {
		keys = append(keys, account.Fold(l))
	}
	found := make(map[string]Person, len(keys))
	err := people(tx, r, "a.login_folded", keys, func(p Person) { found[account.Fold(p.Login)] = p })
	return found, err
}

// PeopleByID is PeopleNamed for ids, which may repeat.
func PeopleByID(tx *db.Tx, r *Repo, ids []int64) (map[int64]Person, error) {
	keys := make([]any, 0, len(ids))
	seen := make(map[int64]bool, len(ids))
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			keys = append(keys, id)
		}
	}
	found := make(map[int64]Person, len(keys))
	err := people(tx, r, "a.id", keys, func(p Person) { found[p.ID] = p })
	return found, err
}

func people(tx *db.Tx, r *Repo, column string, keys []any, found func(Person)) error {
	if len(keys) == 0 {
		return nil
	}
	rows, err := tx.Query(`SELECT a.id, a.login, a.kind, a.site_admin, m.owner, m.public, c.role FROM accounts a
		LEFT JOIN members m ON m.org_id = $1 AND m.user_id = a.id
		LEFT JOIN collaborators c ON c.repo_id = $2 AND c.user_id = a.id
		WHERE `+column+` IN `+db.ValuesFrom(3, 1, len(keys)), append([]any{r.OwnerID, r.ID}, keys...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var p Person
		var kind int64
		var siteAdmin bool
		var public *bool
		var at place
		if err := rows.Scan(&p.ID, &p.Login, &kind, &siteAdmin, &at.owner, &public, &at.granted); err != nil {
			return err
		}
		p.Kind = account.Kind(kind)
		p.Role = at.role(&account.Caller{ID: p.ID, SiteAdmin: siteAdmin}, r)
		p.Member, p.Public, p.Collaborator = at.owner != nil, public != nil && *public, at.granted != nil
		found(p)
	}
	return rows.Err()
}

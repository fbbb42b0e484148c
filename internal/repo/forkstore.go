package repo

import (
	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/web"
)

// Of a public repository all forks are public, so that counters tell everyone
// the same. Of a private one everybody sees other forks: they are counted.

// privateForks are the private forks f that the caller, $1, may see (decisions
// 12, 62), of a private repository that the caller sees; a condition on f follows.
func privateForks(caller *account.Caller) string {
	from := ` FROM repos f JOIN accounts fo ON fo.id = f.owner_id
		LEFT JOIN members fm ON fm.org_id = f.owner_id AND fm.user_id = $1
		LEFT JOIN collaborators fc ON fc.repo_id = f.id AND fc.user_id = $1 WHERE `
	if caller.SeesAll() {
		return from
	}
	if caller != nil && caller.Reach == account.Installed {
		return from + installed(caller, "f") + ` AND `
	}
	from += `(f.owner_id = $1 OR fm.owner OR (fm.owner IS NOT NULL AND fo.default_role > 0) OR fc.role > 0)
		AND NOT EXISTS (SELECT 1 FROM withdrawn_forks w WHERE w.id = f.id) AND `
	if caller != nil && caller.Reach == account.Chosen {
		from += chosen(caller, "f.id") + ` AND `
	}
	return from
}

// forkable holds if the repository r may be forked. For a private one, the organization
// that owns it and the one that owns its root must allow it (decision 62).
const forkable = `NOT r.private OR (o.kind = 1 OR o.private_forks) AND (r.root_id IS NULL
	OR EXISTS (SELECT 1 FROM repos s JOIN accounts so ON so.id = s.owner_id
		WHERE s.id = r.root_id AND (so.kind = 1 OR so.private_forks)))`

// forkColumns are how many forks the repository r and its network have; private are its
// private forks f.
func forkColumns(private string) string {
	return `CASE WHEN r.private AND r.forks_count > 0
		THEN (SELECT count(*)` + private + `f.parent_id = r.id) ELSE r.forks_count END,
	CASE WHEN r.root_id IS NULL AND (r.network_count = 0 OR NOT r.private) THEN r.network_count
		WHEN r.private THEN (SELECT count(*)` + private + `f.root_id = COALESCE(r.root_id, r.id))
		ELSE (SELECT n.network_count FROM repos n WHERE n.id = r.root_id) END`
}

// forkOrder is the ORDER BY of a list of forks f. Watchers are GitHub's older
// name for those who starred; of equals the newest comes first (decisions 24, 42).
func forkOrder(sort string) string {
	switch sort {
	case "oldest":
		return ` ORDER BY f.created_at, f.id`
	case "stargazers", "watchers":
		return ` ORDER BY f.stars DESC, f.created_at DESC, f.id DESC`
	default:
		return ` ORDER BY f.created_at DESC, f.id DESC`
	}
}

// listForks reads a page of the forks of the access's repository that its
// caller may see.
func listForks(tx *db.Tx, a *Access, sort string, page web.Page) ([]*Access, error) {
	var ids []ID
	var err error
	if a.Private {
		ids, err = db.QueryIDs[ID](tx, `SELECT f.id`+privateForks(a.Caller)+`f.parent_id = $2`+forkOrder(sort)+` LIMIT $3 OFFSET $4`,
			account.IDOf(a.Caller), a.ID, page.Size, page.Offset())
	} else {
		ids, err = db.QueryIDs[ID](tx, `SELECT f.id FROM repos f WHERE f.parent_id = $1`+forkOrder(sort)+` LIMIT $2 OFFSET $3`,
			a.ID, page.Size, page.Offset())
	}
	if err != nil {
		return nil, err
	}
	return accessInOrder(tx, a.Caller, ids)
}

// inNetwork finds the owner's repository in a network that the caller may see:
// of several the oldest. Error: 404.
func inNetwork(tx *db.Tx, caller *account.Caller, networkID ID, ownerID account.ID) (*Access, error) {
	list, err := queryAccess(tx, caller, `WHERE r.owner_id = $2 AND r.id IN (
		SELECT id FROM repos WHERE root_id = $3 AND owner_id = $2 UNION ALL SELECT id FROM repos WHERE id = $3) ORDER BY r.id`,
		ownerID, networkID)
	if err != nil {
		return nil, err
	}
	for _, a := range list {
		if a.Role >= account.Pull {
			return a, nil
		}
	}
	return nil, errs.Absent()
}

// freeName finds out which of the names the owner has not used yet: the first
// of those. Error: 422 when there is none.
func freeName(tx *db.Tx, ownerID account.ID, names []string) (string, error) {
	args := []any{ownerID}
	for _, n := range names {
		args = append(args, account.Fold(n))
	}
	rows, err := tx.Query(`SELECT name_folded FROM repos WHERE owner_id = $1 AND name_folded IN `+
		db.ValuesFrom(2, 1, len(names)), args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	taken := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return "", err
		}
		taken[name] = true
	}
	if err := rows.Err(); err != nil {
		return "", err
	}
	for _, n := range names {
		if !taken[account.Fold(n)] {
			return n, nil
		}
	}
	return "", errNameTaken()
}

// countFork adds a fork to the counters of its parent and of its network.
func countFork(tx *db.Tx, parentID, networkID ID) error {
	if err := tx.Run(`UPDATE repos SET forks_count = forks_count + 1 WHERE id = $1`, parentID); err != nil {
		return err
	}
	err := tx.Run(`UPDATE repos SET network_count = network_count + 1 WHERE id = $1`, networkID)
	return err
}

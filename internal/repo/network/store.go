package network

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// kin is what the columns of one repository say of its network.
type kin struct {
	parent, root   *repo.ID
	forks, network int64 // all of them, for any caller
}

func kinOf(tx *db.Tx, id repo.ID) (k kin, err error) {
	err = tx.QueryRow(`SELECT parent_id, root_id, forks_count, network_count FROM repos WHERE id = $1`, id).
		Scan(&k.parent, &k.root, &k.forks, &k.network)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return k, err
}

// NetworkOf is the root of a repository's network. Error: 404.
func NetworkOf(tx *db.Tx, id repo.ID) (root repo.ID, err error) {
	k, err := kinOf(tx, id)
	if err == nil && k.root != nil {
		return *k.root, nil
	}
	return id, err
}

// change is a statement with its arguments.
type change struct {
	text string
	args []any
}

// apply runs the changes one after the other.
func apply(tx *db.Tx, list ...change) error {
	for _, c := range list {
		if err := tx.Run(c.text, c.args...); err != nil {
			return err
		}
	}
	return nil
}

func with(args ...any) []any { return args }

// standAlone turns a repository into the root of a network of its own.
func standAlone(tx *db.Tx, id repo.ID) error {
	return apply(tx, change{`UPDATE repos SET parent_id = NULL, root_id = NULL, forks_count = 0,
		network_count = 0
		WHERE id = $1`, with(id)})
}

// succeed turns the oldest fork of a root into the root of all others.
func succeed(tx *db.Tx, id repo.ID, k kin) error {
	var heir repo.ID
	err := tx.QueryRow(`SELECT id FROM repos WHERE parent_id = $1 ORDER BY created_at, id LIMIT 1`,
		id).Scan(&heir)
	if err != nil {
		return err
	}
	return apply(tx,
		change{`UPDATE repos SET parent_id = NULL, root_id = NULL, forks_count = forks_count + $2, network_count = $3 WHERE id = $1`,
			with(heir, k.forks-1, k.network-1)},
		change{`UPDATE repos SET parent_id = $2 WHERE parent_id = $1`, with(id, heir)},
		change{`UPDATE repos SET root_id = $2 WHERE root_id = $1`, with(id, heir)})
}

// passOn moves the forks of a fork to its parent.
func passOn(tx *db.Tx, id repo.ID, k kin) error {
	return apply(tx,
		change{`UPDATE repos SET parent_id = $2 WHERE parent_id = $1`, with(id, *k.parent)},
		change{`UPDATE repos SET forks_count = forks_count + $2 WHERE id = $1`, with(*k.parent, k.forks-1)},
		change{`UPDATE repos SET network_count = network_count - 1 WHERE id = $1`, with(*k.root)})
}

// giveBack ends the withdrawal of a fork. It reports whether there was one.
func giveBack(tx *db.Tx, id repo.ID) (bool, error) {
	n, err := tx.Exec(`UPDATE repos SET withdrawn = FALSE, refs_generation = refs_generation + 1
		WHERE id = $1 AND withdrawn = TRUE AND `+repo.NotDeleted("repos"), id)
	return n > 0, err
}

// setFree turns each fork of a private network, whose root leaves, into a network of its
// own. When the root is deleted, withdrawn forks stay withdrawn: nobody could give access
// to the root any more (decision 62). When it is published, everybody sees it.
func setFree(tx *db.Tx, root repo.ID, deleted bool) error {
	if deleted {
		err := apply(tx, change{`UPDATE repos SET withdrawn = TRUE
			WHERE id IN (SELECT w.id FROM withdrawn_forks w WHERE w.root_id = $1)`, with(root)})
		if err != nil {
			return err
		}
	}
	return apply(tx, change{`UPDATE repos SET parent_id = NULL, root_id = NULL, forks_count = 0,
		network_count = 0 WHERE root_id = $1`, with(root)})
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

// listForks reads a page of the forks of each repository that the caller may see, with two statements.
func listForks(tx *db.Tx, of []*repo.Access, sort string, page web.Page) (map[repo.ID][]*repo.Access, error) {
	if len(of) == 0 {
		return nil, nil
	}
	args := []any{account.IDOf(of[0].Caller), page.Size, page.Offset()}
	parts := make([]string, len(of))
	for n, a := range of {
		from := ` FROM repos f WHERE `
		if a.Private {
			from = repo.PrivateForks(a.Caller)
		}
		args = append(args, a.ID)
		parts[n] = fmt.Sprintf(`SELECT %d AS part, id, stars, created_at FROM (SELECT f.id, f.stars, f.created_at
			%sf.parent_id = $%d%s LIMIT $2 OFFSET $3) p%d`, n, from, len(args), forkOrder(sort), n)
	}
	// $1 stands in parts of private repositories alone, and PostgreSQL wants each parameter somewhere.
	ids, err := db.QueryIDs[repo.ID](tx, `SELECT id FROM (`+strings.Join(parts, ` UNION ALL `)+
		`) f WHERE CAST($1 AS BIGINT) >= 0`+strings.Replace(forkOrder(sort), `BY `, `BY part, `, 1), args...)
	if err != nil {
		return nil, err
	}
	found := map[repo.ID][]*repo.Access{}
	list, err := repo.InOrder(tx, of[0].Caller, ids)
	for _, f := range list {
		found[f.ParentID] = append(found[f.ParentID], f)
	}
	return found, err
}

// inNetwork finds the owner's repository in a network that the caller may see:
// of several the oldest. Error: 404.
func inNetwork(
	tx *db.Tx, caller *account.Caller, networkID repo.ID, ownerID account.ID,
) (*repo.Access, error) {
	list, err := repo.Query(tx, caller, `WHERE r.owner_id = $2 AND r.id IN (
		SELECT id FROM repos WHERE root_id = $3 AND owner_id = $2 UNION ALL SELECT id FROM repos
		WHERE id = $3) ORDER BY r.id`,
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
	taken, err := db.QueryTexts(tx, `SELECT name_folded FROM repos WHERE owner_id = $1 AND name_folded IN `+
		db.ValuesFrom(2, 1, len(names)), args...)
	if err != nil {
		return "", err
	}
	for _, n := range names {
		if !slices.Contains(taken, account.Fold(n)) {
			return n, nil
		}
	}
	return "", repo.ErrNameTaken()
}

// countFork adds a fork to the counters of its parent and of its network.
func countFork(tx *db.Tx, parentID, networkID repo.ID) error {
	if err := tx.Run(`UPDATE repos SET forks_count = forks_count + 1 WHERE id = $1`, parentID); err != nil {
		return err
	}
	err := tx.Run(`UPDATE repos SET network_count = network_count + 1 WHERE id = $1`, networkID)
	return err
}

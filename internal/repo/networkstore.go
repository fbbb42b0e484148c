package repo

import (
	"errors"

	"arbor/internal/db"
	"arbor/internal/errs"
)

// kin is what the columns of one repository say of its network.
type kin struct {
	parent, root   *ID
	forks, network int64 // all of them, no matter who asks
}

func kinOf(tx *db.Tx, id ID) (k kin, err error) {
	err = tx.QueryRow(`SELECT parent_id, root_id, forks_count, network_count FROM repos WHERE id = $1`, id).
		Scan(&k.parent, &k.root, &k.forks, &k.network)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return k, err
}

// networkOf is the root of a repository's network. Error: 404.
func networkOf(tx *db.Tx, id ID) (root ID, err error) {
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

// standAlone makes a repository the root of a network with nobody else in it.
func standAlone(tx *db.Tx, id ID) error {
	return apply(tx, change{`UPDATE repos SET parent_id = NULL, root_id = NULL, forks_count = 0, network_count = 0
		WHERE id = $1`, with(id)})
}

// succeed makes the oldest fork of a root the root of all others.
func succeed(tx *db.Tx, id ID, k kin) error {
	var heir ID
	err := tx.QueryRow(`SELECT id FROM repos WHERE parent_id = $1 ORDER BY created_at, id LIMIT 1`, id).Scan(&heir)
	if err != nil {
		return err
	}
	return apply(tx,
		change{`UPDATE repos SET parent_id = NULL, root_id = NULL, forks_count = forks_count + $2, network_count = $3 WHERE id = $1`,
			with(heir, k.forks-1, k.network-1)},
		change{`UPDATE repos SET parent_id = $2 WHERE parent_id = $1`, with(id, heir)},
		change{`UPDATE repos SET root_id = $2 WHERE root_id = $1`, with(id, heir)})
}

// passOn gives the forks of a fork to its parent.
func passOn(tx *db.Tx, id ID, k kin) error {
	return apply(tx,
		change{`UPDATE repos SET parent_id = $2 WHERE parent_id = $1`, with(id, *k.parent)},
		change{`UPDATE repos SET forks_count = forks_count + $2 WHERE id = $1`, with(*k.parent, k.forks-1)},
		change{`UPDATE repos SET network_count = network_count - 1 WHERE id = $1`, with(*k.root)})
}

// giveBack ends the withdrawal of a fork. It reports whether there was one.
func giveBack(tx *db.Tx, id ID) (bool, error) {
	n, err := tx.Exec(`UPDATE repos SET withdrawn = FALSE, refs_generation = refs_generation + 1
		WHERE id = $1 AND withdrawn = TRUE`, id)
	return n > 0, err
}

// setFree makes each fork of a private network, whose root leaves, a network of its
// own. When the root is deleted, withdrawn forks stay withdrawn: nobody could give access
// to the root any more (decision 62). When it is published, everybody sees it.
func setFree(tx *db.Tx, root ID, deleted bool) error {
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

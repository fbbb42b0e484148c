package activity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// maxHidden is how many activities of private repositories are looked at, in
// ranges that hold what not everybody sees.
const maxHidden = 1000

// maxGlobal is how far back the feed of everything goes, in activities.
const maxGlobal = 10_000

// scope is which activities a feed is made of: SQL that selects rows of
// activities, in which $2 onwards are its values. What it reads is bounded,
// whatever is stored.
type scope struct {
	sql  string
	args []any
}

// rangeOf is a range of an index, from its newest end. Its condition is on x.
func rangeOf(columns, condition string, limit int) string {
	return fmt.Sprintf(`SELECT * FROM (SELECT %s FROM activities x WHERE %s ORDER BY x.id DESC LIMIT %d) y`, columns, condition, limit)
}

// everything is what happened in public lately.
func everything() scope {
	const lately = `x.public = TRUE AND x.id > (SELECT COALESCE(max(id), 0) FROM activities) - $2`
	return scope{rangeOf(`x.*`, lately, Newest), []any{int64(maxGlobal)}}
}

// ofRepo is the activities of one repository, which the caller sees: the public ones,
// and with all also the others.
func ofRepo(id repo.ID, all bool) scope { return turned(`x.repo_id = $2`, id, all) }

// ofActor is what somebody did in public, and with all elsewhere, too.
func ofActor(id account.ID, all bool) scope { return turned(`x.actor_id = $2`, id, all) }

// ofOrg is what happened in public in the repositories of an organization, and
// with all in the others, too.
func ofOrg(id account.ID, all bool) scope { return turned(`x.org_id = $2`, id, all) }

func turned(condition string, id any, all bool) scope {
	sql := rangeOf(`x.*`, condition+` AND x.public = TRUE`, Newest)
	if all {
		sql += ` UNION ALL ` + rangeOf(`x.*`, condition+` AND x.public = FALSE`, maxHidden)
	}
	return scope{sql, []any{id}}
}

// many is several ranges of one index.
type many struct {
	condition string // that x is in one range, with %s for the range's key
	keys      string // selects the keys of the ranges under the name id
	args      []any  // of keys
}

// inPublic and elsewhere are the two ranges of a repository, and byActor the range of an
// actor's public activities.
const (
	inPublic  = `x.repo_id = %s AND x.public = TRUE`
	elsewhere = `x.repo_id = %s AND x.public = FALSE`
	byActor   = `x.actor_id = %s AND x.public = TRUE`
)

// ofNetwork is the activities of all repositories of a network, as far as the caller
// sees them.
func ofNetwork(tx *db.Tx, rootID repo.ID, caller *account.Caller) (scope, error) {
	list := []many{{inPublic, `SELECT n.id FROM repos n WHERE n.id = $1 OR n.root_id = $1`, []any{rootID}}}
	if caller != nil {
		list = append(list, many{elsewhere, `SELECT n.id FROM repos n WHERE (n.id = $2 OR n.root_id = $2)
			AND EXISTS (SELECT 1` + repo.FromGranted(`n.id`, caller) + `)`, []any{caller.ID, rootID}})
	}
	return newest(tx, list...)
}

// received is what happened in the repositories that a user watches and what
// those did whom the user follows: in public, and for the user as the caller
// also elsewhere in repositories that the user watches and has a role in.
func received(tx *db.Tx, userID account.ID, caller *account.Caller) (scope, error) {
	watched, user := `SELECT w.repo_id AS id FROM watches w WHERE w.user_id = $1 AND `, []any{userID}
	list := []many{{inPublic, watched + `w.private = FALSE`, user},
		{byActor, `SELECT f.target_id AS id FROM followers f WHERE f.user_id = $1`, user}}
	if account.IDOf(caller) == userID {
		granted := `EXISTS (SELECT 1` + repo.FromGranted(`w.repo_id`, caller) + `)`
		list = append(list, many{elsewhere, watched + granted, user})
	}
	return newest(tx, list...)
}

// newest is the Newest activities of many ranges together.
func newest(tx *db.Tx, list ...many) (scope, error) {
	var ids []int64
	for _, m := range list {
		more, err := m.newest(tx)
		if err != nil {
			return scope{}, err
		}
		ids = append(ids, more...)
	}
	ids = newestOf(ids)
	if len(ids) == 0 {
		return scope{sql: rangeOf(`x.*`, `FALSE`, 0)}, nil
	}
	s := scope{sql: `SELECT x.* FROM activities x WHERE x.id IN ` + db.ValuesFrom(2, 1, Newest)}
	for n := range Newest {
		s.args = append(s.args, ids[min(n, len(ids)-1)])
	}
	return s, nil
}

// newestOf keeps the Newest ids, the newest first, each once.
func newestOf(ids []int64) []int64 {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	slices.Reverse(ids)
	return ids[:min(len(ids), Newest)]
}

// rangesAtOnce is how many ranges one query reads.
const rangesAtOnce = 16

// newest reads the ids of the newest activities, from the range with the newest
// of all on, until those that are left go back further than what is found.
func (m many) newest(tx *db.Tx) ([]int64, error) {
	keys, tops, err := m.tops(tx)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for from := 0; from < len(keys); from += rangesAtOnce {
		if len(ids) == Newest && ids[Newest-1] > tops[from] {
			break
		}
		more, err := m.read(tx, keys[from:min(from+rangesAtOnce, len(keys))])
		if err != nil {
			return nil, err
		}
		ids = newestOf(append(ids, more...))
	}
	return ids, nil
}

// tops reads the keys of the ranges that may hold any of the Newest activities,
// and the newest of each, which is in the order of the keys.
func (m many) tops(tx *db.Tx) (keys, tops []int64, err error) {
	err = db.QueryEach(tx, func(row db.Scanner) error {
		var key, top int64
		if err := row.Scan(&key, &top); err != nil {
			return err
		}
		if top != 0 {
			keys, tops = append(keys, key), append(tops, top)
		}
		return nil
	}, `SELECT k.id, COALESCE((SELECT max(x.id) FROM activities x WHERE `+fmt.Sprintf(m.condition, `k.id`)+`), 0) AS top
		FROM (`+m.keys+`) k ORDER BY 2 DESC LIMIT `+strconv.Itoa(Newest), m.args...)
	return keys, tops, err
}

// read reads the ids of the newest activities of each range. The number of
// ranges is rounded up, so that few texts are ever prepared.
func (m many) read(tx *db.Tx, keys []int64) ([]int64, error) {
	n := 1
	for n < len(keys) {
		n *= 4
	}
	parts, args := make([]string, n), make([]any, n)
	for k := range n {
		parts[k] = rangeOf(`x.id`, fmt.Sprintf(m.condition, `$`+strconv.Itoa(k+1)), Newest)
		args[k] = keys[min(k, len(keys)-1)]
	}
	return db.QueryIDs[int64](tx, strings.Join(parts, ` UNION `), args...)
}

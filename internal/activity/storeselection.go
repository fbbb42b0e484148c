package activity

import (
	"cmp"
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

// selection is which activities a feed is made of: SQL that selects rows of
// activities, in which $2 onwards are its values. What it reads is bounded,
// whatever is stored.
type selection struct {
	sql  string
	args []any
}

// rangeOf is a range of an index, from its newest end. Its condition is on x.
func rangeOf(columns, condition string, limit int) string {
	return fmt.Sprintf(`SELECT * FROM (SELECT %s FROM activities x WHERE %s ORDER BY x.id DESC LIMIT %d) y`,
		columns, condition, limit)
}

// everything is what happened in public lately.
func everything() selection {
	const lately = `x.public = TRUE AND x.id > (SELECT COALESCE(max(id), 0) FROM activities) - $2`
	return selection{rangeOf(`x.*`, lately, Newest), []any{int64(maxGlobal)}}
}

// ofRepo is the activities of one repository, which the caller sees: the public ones,
// and with all also the others.
func ofRepo(id repo.ID, all bool) selection { return turned(`x.repo_id = $2`, id, all) }

// ofActor is what somebody did in public, and with all elsewhere, too.
func ofActor(id account.ID, all bool) selection { return turned(`x.actor_id = $2`, id, all) }

// ofOrg is what happened in public in the repositories of an organization, and
// with all in the others, too.
func ofOrg(id account.ID, all bool) selection { return turned(`x.org_id = $2`, id, all) }

func turned(condition string, id any, all bool) selection {
	sql := rangeOf(`x.*`, condition+` AND x.public = TRUE`, Newest)
	if all {
		sql += ` UNION ALL ` + rangeOf(`x.*`, condition+` AND x.public = FALSE`, maxHidden)
	}
	return selection{sql, []any{id}}
}

// many is several ranges of one index.
type many struct {
	condition string // that x is in one range, with %s for the range's key
	keys      string // selects the keys of the ranges under the name id
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
func ofNetwork(tx *db.Tx, rootID repo.ID, caller *account.Caller) (selection, error) {
	if caller == nil {
		return newest(tx, []any{rootID}, many{inPublic,
			`SELECT n.id FROM repos n WHERE n.id = $1 OR n.root_id = $1`})
	}
	const all = `SELECT n.id FROM repos n WHERE (n.id = $2 OR n.root_id = $2)`
	return newest(tx, []any{caller.ID, rootID}, many{inPublic, all},
		many{elsewhere, all + ` AND EXISTS (SELECT 1` + repo.FromGranted(`n.id`, caller) + `)`})
}

// received is what happened in the repositories that a user watches and what
// those did whom the user follows: in public, and for the user as the caller
// also elsewhere in repositories that the user watches and has a role in.
func received(tx *db.Tx, userID account.ID, caller *account.Caller) (selection, error) {
	const watched = `SELECT w.repo_id AS id FROM watches w WHERE w.user_id = $1 AND `
	list := []many{{inPublic, watched + `w.private = FALSE`},
		{byActor, `SELECT f.target_id AS id FROM followers f WHERE f.user_id = $1`}}
	if account.IDOf(caller) == userID {
		list = append(list, many{elsewhere,
			watched + `EXISTS (SELECT 1` + repo.FromGranted(`w.repo_id`, caller) + `)`})
	}
	return newest(tx, []any{userID}, list...)
}

// newest is the Newest activities of many ranges together; args are those of all keys.
func newest(tx *db.Tx, args []any, list ...many) (selection, error) {
	ids, err := newestIDs(tx, args, list)
	if err != nil {
		return selection{}, err
	}
	if len(ids) == 0 {
		return selection{sql: rangeOf(`x.*`, `FALSE`, 0)}, nil
	}
	s := selection{sql: `SELECT x.* FROM activities x WHERE x.id IN ` + db.ValuesFrom(2, 1, Newest)}
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

// firstRanges is how many ranges the first statement reads, and moreRanges how many each other one, of which
// SQLite makes one statement.
const firstRanges, moreRanges = 16, 128

// newestIDs reads the ids of the newest activities, from the range with the newest
// of all on, until those that are left go back further than what is found.
func newestIDs(tx *db.Tx, args []any, list []many) (ids []int64, err error) {
	left, err := tops(tx, args, list)
	for size := firstRanges; err == nil && len(left) > 0; size = moreRanges {
		if len(ids) == Newest && ids[Newest-1] > left[0].newest {
			break
		}
		part := left[:min(size, len(left))]
		left = left[len(part):]
		var more []int64
		more, err = read(tx, list, part)
		ids = newestOf(append(ids, more...))
	}
	return ids, err
}

// top is a range, and the newest activity in it.
type top struct {
	of          int // the range's index
	key, newest int64
}

// tops reads the ranges that may hold any of the Newest activities, that with the newest first.
func tops(tx *db.Tx, args []any, list []many) ([]top, error) {
	parts := make([]string, len(list))
	for n, m := range list {
		parts[n] = fmt.Sprintf(`SELECT * FROM (SELECT %d AS kind, k.id, COALESCE((SELECT max(x.id)
			FROM activities x WHERE %s), 0) AS top
			FROM (%s) k ORDER BY 3 DESC LIMIT %d) t%d`, n, fmt.Sprintf(m.condition, `k.id`), m.keys, Newest, n)
	}
	found, err := db.QueryList(tx, func(row db.Scanner) (t top, err error) {
		err = row.Scan(&t.of, &t.key, &t.newest)
		return t, err
	}, strings.Join(parts, ` UNION ALL `), args...)
	found = slices.DeleteFunc(found, func(t top) bool { return t.newest == 0 })
	slices.SortFunc(found, func(a, b top) int { return cmp.Compare(b.newest, a.newest) })
	return found, err
}

// read reads the ids of the newest activities of each range. The number of
// ranges of an index is rounded up, so that few texts are ever prepared.
func read(tx *db.Tx, list []many, part []top) ([]int64, error) {
	var parts []string
	var args []any
	for of, m := range list {
		some := slices.DeleteFunc(slices.Clone(part), func(t top) bool { return t.of != of })
		n := 1
		for n < len(some) {
			n *= 2
		}
		for k := 0; k < n && len(some) > 0; k++ {
			args = append(args, some[min(k, len(some)-1)].key)
			parts = append(parts, rangeOf(`x.id`,
				fmt.Sprintf(m.condition, `$`+strconv.Itoa(len(args))), Newest))
		}
	}
	return db.QueryIDs[int64](tx, strings.Join(parts, ` UNION `), args...)
}

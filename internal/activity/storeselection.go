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

// maxHidden is the number of activities that are read from ranges with activities of private repositories.
const maxHidden = 1000

// maxGlobal is the number of newest activities that the global feed is selected from.
const maxGlobal = 10_000

// selection is the SQL that selects the activities of a feed, with arguments from $2 on. What it reads is
// bounded.
type selection struct {
	sql  string
	args []any
}

// rangeOf returns a query for the newest rows of an index range. condition refers to x.
func rangeOf(columns, condition string, limit int) string {
	return fmt.Sprintf(`SELECT * FROM (SELECT %s FROM activities x WHERE %s ORDER BY x.id DESC LIMIT %d) y`,
		columns, condition, limit)
}

// everything selects recent public activities.
func everything() selection {
	const lately = `x.public = TRUE AND x.id > (SELECT COALESCE(max(id), 0) FROM activities) - $2`
	return selection{rangeOf(`x.*`, lately, Newest), []any{int64(maxGlobal)}}
}

// ofRepo selects the activities of a repository that is visible to the caller: the public ones, or all.
func ofRepo(id repo.ID, all bool) selection { return turned(`x.repo_id = $2`, id, all) }

// ofActor selects the public activities of an account, or all.
func ofActor(id account.ID, all bool) selection { return turned(`x.actor_id = $2`, id, all) }

// ofOrg selects the activities in an organization's public repositories, or in all.
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
	condition string // that x is in a range, with %s for its key
	keys      string // selects the keys of the ranges as id
}

// Conditions of a repository's two ranges and of an actor's public activities.
const (
	inPublic  = `x.repo_id = %s AND x.public = TRUE`
	elsewhere = `x.repo_id = %s AND x.public = FALSE`
	byActor   = `x.actor_id = %s AND x.public = TRUE`
)

// ofNetwork selects the activities of all repositories of a network, as far as they are visible to the
// caller.
func ofNetwork(tx *db.Tx, rootID repo.ID, caller *account.Caller) (selection, error) {
	if caller == nil {
		return newest(tx, []any{rootID}, many{inPublic,
			`SELECT n.id FROM repos n WHERE n.id = $1 OR n.root_id = $1`})
	}
	const all = `SELECT n.id FROM repos n WHERE (n.id = $2 OR n.root_id = $2)`
	return newest(tx, []any{caller.ID, rootID}, many{inPublic, all},
		many{elsewhere, all + ` AND EXISTS (SELECT 1` + repo.FromGranted(`n.id`, caller) + `)`})
}

// received selects the activities in repositories that a user watches and those of users followed: public
// ones, and if the user is the caller also others in watched repositories in which the user has a role.
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

// newest selects the Newest activities of several ranges. args are those of all keys.
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

// newestOf returns the Newest ids, newest first, without duplicates.
func newestOf(ids []int64) []int64 {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	slices.Reverse(ids)
	return ids[:min(len(ids), Newest)]
}

// firstRanges is the number of ranges that the first statement reads, moreRanges that of the others.
const firstRanges, moreRanges = 16, 128

// newestIDs reads the ids of the newest activities, beginning with the range that has the newest one, until
// the remaining ranges are older than what was found.
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

// top is a range and its newest activity.
type top struct {
	of          int // the range's index
	key, newest int64
}

// tops returns the ranges that may have any of the Newest activities, ordered by their newest.
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

// read reads the ids of the newest activities of each range. The number of ranges of an index is rounded
// up, so that few statements are prepared.
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

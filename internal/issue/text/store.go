package text

import (
	"fmt"
	"strings"

	"arbor/internal/db"
)

// linkedTo reads the issues of several repositories that texts link to in one query: their titles, and
// whether they are pull requests. It does not read bodies, because one text may link to hundreds of issues.
// Unknown issues are missing from the map.
func linkedTo(tx *db.Tx, keys []issueKey) (map[issueKey]linked, error) {
	found := make(map[issueKey]linked, len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	where, args := make([]string, len(keys)), make([]any, 0, 2*len(keys))
	for n, k := range keys {
		where[n] = fmt.Sprintf("(i.repo_id = $%d AND i.number = $%d)", 2*n+1, 2*n+2)
		args = append(args, k.repo, k.number)
	}
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var key issueKey
		var to linked
		if err := row.Scan(&key.repo, &key.number, &to.pull, &to.title); err != nil {
			return err
		}
		found[key] = to
		return nil
	}, `SELECT i.repo_id, i.number, i.pull, i.title FROM issues i WHERE `+strings.Join(where,
		" OR "), args...)
	return found, err
}

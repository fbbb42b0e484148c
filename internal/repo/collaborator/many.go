package collaborator

import (
	"fmt"
	"strings"

	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// params collects the arguments of a statement.
type params []any

// add adds an argument and returns its placeholder.
func (p *params) add(v any) string {
	*p = append(*p, v)
	return fmt.Sprintf("$%d", len(*p))
}

// place has the placeholders of a repository and its owner in a statement.
type place struct{ repo, owner string }

func (p *params) place(r *repo.Repo) place { return place{p.add(r.ID), p.add(r.OwnerID)} }

// source returns a SELECT of users as user_id, and perhaps other columns, of one repository.
type source func(a *repo.Access, p *params) string

// eachPage reads a page of what from selects in each repository, by user, with one statement. read scans the
// number of the repository in the list, and columns.
func eachPage(
	tx *db.Tx, repos []*repo.Access, page web.Page, columns string, from source, read func(db.Scanner) error,
) error {
	var p params
	limit := ` LIMIT ` + p.add(page.Size) + ` OFFSET ` + p.add(page.Offset())
	parts := make([]string, len(repos))
	for n, a := range repos {
		parts[n] = fmt.Sprintf(`SELECT %d AS part, %s FROM (%s ORDER BY user_id%s) p%d`, n, columns, from(a, &p), limit, n)
	}
	return db.QueryEach(tx, read, `SELECT part, `+columns+` FROM (`+strings.Join(parts, ` UNION ALL `)+
		`) p ORDER BY part, user_id`, p...)
}

// totals returns how many rows from selects in each repository: of those whose page tells it, from the number
// of its rows, and of all others with one statement.
func totals(tx *db.Tx, repos []*repo.Access, page web.Page, rows []int, from source) ([]int64, error) {
	all := make([]int64, len(repos))
	var p params
	var parts []string
	for n, a := range repos {
		var known bool
		if all[n], known = page.Total(rows[n]); !known {
			parts = append(parts, fmt.Sprintf(`SELECT %d, count(*) FROM (%s) p%d`, n, from(a, &p), n))
		}
	}
	if len(parts) == 0 {
		return all, nil
	}
	return all, db.QueryEach(tx, func(row db.Scanner) error {
		var n int
		var count int64
		err := row.Scan(&n, &count)
		all[n] = count
		return err
	}, strings.Join(parts, ` UNION ALL `), p...)
}

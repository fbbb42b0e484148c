package issuekit

import (
	"strconv"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
)

// Scope selects the repositories to which somebody may have lost access.
type Scope struct {
	Repos string // SQL: a column of ids; $1 in it is ID
	ID    any
}

// InRepo is the scope of one repository.
func InRepo(id repo.ID) Scope { return Scope{`CAST($1 AS BIGINT)`, id} }

// OwnedBy is the scope of all repositories of an account.
func OwnedBy(id account.ID) Scope { return Scope{`SELECT id FROM repos WHERE owner_id = $1`, id} }

// AskedOf is the scope of all repositories in which an account is assigned, or its review requested.
func AskedOf(id account.ID) Scope {
	return Scope{`SELECT repo_id FROM postings WHERE kind = 3 AND value = $1 UNION SELECT p.repo_id
		FROM requested_reviewers q JOIN pulls p ON p.issue_id = q.issue_id WHERE q.user_id = $1`, id}
}

// Lost is a repository to which somebody lost access, and its owner.
type Lost struct {
	Repo  repo.ID
	Owner account.ID
}

// DropLost removes what people hold in repositories to which they lost access. find reads at most [db.MaxValues] of the
// rows to remove, each with its repository; drop removes these. The repositories are locked before, as by [Lock], and
// the rows read again then. So the number of statements grows with every few hundred rows.
func DropLost[T any](tx *db.Tx, find func() ([]T, []Lost, error), drop func([]T) error) error {
	locked := map[repo.ID]bool{}
	for {
		list, in, err := find()
		if err != nil || len(list) == 0 {
			return err
		}
		var fresh []repo.ID
		for _, l := range in {
			if !locked[l.Repo] {
				fresh, locked[l.Repo] = append(fresh, l.Repo), true
			}
		}
		if len(fresh) == 0 {
			err = drop(list)
		} else {
			err = tx.Run(`UPDATE repos SET issues_generation = issues_generation + 1 WHERE id IN `+
				db.Values(1, len(fresh)), db.Args(fresh)...)
		}
		if err != nil {
			return err
		}
	}
}

// With returns the table v (a, b) of so many rows, as the beginning of a statement whose first arguments these are.
// The types are those of SQL.
func With(rows int, a, b string) string {
	var s strings.Builder
	s.WriteString(`WITH v (a, b) AS (VALUES (CAST($1 AS ` + a + `), CAST($2 AS ` + b + `))`)
	for n := 3; n <= 2*rows; n += 2 {
		s.WriteString(`,($` + strconv.Itoa(n) + `,$` + strconv.Itoa(n+1) + `)`)
	}
	return s.String() + `) `
}

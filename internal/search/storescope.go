package search

import (
	"fmt"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// maxListed is how many repositories a search names one by one. More are found by a
// SELECT.
const maxListed = 500

// look determines the repositories to search, as far as they are visible to the caller, and sets them in a
// query. where is a condition on repositories from posting.Split.
func look(tx *db.Tx, caller *account.Caller, where posting.Expr, in *posting.Query) error {
	args := []any{account.IDOf(caller)}
	from := repo.FromVisible("r.id", caller) // of an id that is its own: of any
	from += " AND " + posting.OnRepos(where, func(v any) string {
		args = append(args, v)
		return fmt.Sprintf("$%d", len(args))
	})
	err := db.QueryEach(tx, func(row db.Scanner) error {
		var r posting.Repo
		var on bool
		err := row.Scan(&r.ID, &on, &r.Owner, &r.Private, &r.Archived)
		r.IssuesOff = !on
		in.Repos = append(in.Repos, r)
		return err
	}, `SELECT r.id, r.has_issues, r.owner_id, r.private, r.archived`+from+
		fmt.Sprintf(` LIMIT %d`, maxListed+1), args...)
	if err != nil {
		return err
	}
	if len(in.Repos) > maxListed {
		in.Repos, in.Many = nil, &posting.Scope{SQL: `SELECT r.id` + from, Args: args}
	}
	return nil
}

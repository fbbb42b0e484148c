package search

import (
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/finder"
	"arbor/internal/repo"
)

// maxListed is how many repositories a search names one by one. More are found by a
// SELECT.
const maxListed = 500

// look finds out where to search, as far as the caller may see it, and sets that in
// a query.
func (q *Query) look(tx *db.Tx, caller *account.Caller, n *names, in *finder.Query) error {
	s := &scope{args: []any{account.IDOf(caller)}}
	from := repo.FromVisible("r.id", caller) + s.conditions(q, n) // of an id that is its own: of any
	query := `SELECT r.id, r.has_issues, r.issues_generation` + from + fmt.Sprintf(` LIMIT %d`, maxListed+1)
	rows, err := tx.Query(query, s.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var r finder.Repo
		var on bool
		if err := rows.Scan(&r.ID, &on, &r.Generation); err != nil {
			return err
		}
		r.IssuesOff = !on
		in.Repos = append(in.Repos, r)
	}
	if len(in.Repos) > maxListed {
		in.Repos, in.Many = nil, &finder.Scope{SQL: `SELECT r.id` + from, Args: s.args}
	}
	return rows.Err()
}

// scope collects the arguments of conditions on repositories.
type scope struct{ args []any }

// list adds ids to the arguments of s and returns them as what stands behind IN.
func list[ID ~int64](s *scope, ids []ID) string {
	marks := make([]string, len(ids))
	for n, id := range ids {
		s.args = append(s.args, id)
		marks[n] = fmt.Sprintf("$%d", len(s.args))
	}
	return "(" + strings.Join(marks, ",") + ")"
}

// conditions are those on repositories that a query has.
func (s *scope) conditions(q *Query, n *names) (b string) {
	repos, owners := n.repoIDs(q.Repos.Yes), n.ids(q.Owners.Yes)
	switch {
	case len(repos) > 0 && len(owners) > 0:
		b += " AND (r.id IN " + list(s, repos) + " OR r.owner_id IN " + list(s, owners) + ")"
	case len(repos) > 0:
		b += " AND r.id IN " + list(s, repos)
	case len(owners) > 0:
		b += " AND r.owner_id IN " + list(s, owners)
	}
	if not := n.repoIDs(q.Repos.No); len(not) > 0 {
		b += " AND r.id NOT IN " + list(s, not)
	}
	if not := n.ids(q.Owners.No); len(not) > 0 {
		b += " AND r.owner_id NOT IN " + list(s, not)
	}
	switch q.Public {
	case Yes:
		b += " AND NOT r.private"
	case No:
		b += " AND r.private"
	}
	switch q.Archived {
	case Yes:
		b += " AND r.archived"
	case No:
		b += " AND NOT r.archived"
	}
	return b
}

package search

import (
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/posting"
	"arbor/internal/repo"
)

// statement is the SQL of a query: of the postings p of one property that all
// results have, those for which all conditions hold.
type statement struct {
	tx    *db.Tx
	args  []any
	names *names
	q     *Query

	base   property
	where  []string
	find   string  // the words, as a SELECT of issue_id and score; empty: none are looked for
	issues bool    // columns of issues are needed, under the name i
	scope  string  // behind IN: the repositories that are searched
	few    []int64 // the same, if they are few
}

// property is a kind of posting, and the values that it may have: what stands
// behind IN.
type property struct {
	kind   posting.Kind
	values string
	looked bool // by a SELECT
}

// Repositories that are named one by one: more are found by a SELECT.
const maxListed = 100

// maxScopes is how many repositories are looked for in the index of words; of
// more, the results are filtered instead.
const maxScopes = 8

// plan makes the statement for a query; nil when nothing can match.
func plan(tx *db.Tx, caller *account.Caller, q *Query) (*statement, error) {
	n, err := resolve(tx, caller, q)
	if err != nil || q.impossible() {
		return nil, err
	}
	s := &statement{tx: tx, names: n, q: q, args: []any{repo.CallerID(caller)}}
	if any, err := s.repositories(caller); err != nil || !any {
		return nil, err
	}
	if !s.words() {
		return nil, nil
	}
	s.people()
	s.labels()
	s.milestones()
	s.flags()
	s.spans()
	return s, nil
}

// impossible reports a query that contradicts itself.
func (q *Query) impossible() bool {
	for _, f := range flags() {
		if *f.of(q) == Yes|No {
			return true
		}
	}
	return q.Archived == Yes // nothing is
}

func (s *statement) arg(v any) string {
	s.args = append(s.args, v)
	return fmt.Sprintf("$%d", len(s.args))
}

// list adds arguments and returns them as what stands behind IN.
func (s *statement) list(ids []int64) string {
	marks := make([]string, len(ids))
	for n, id := range ids {
		marks[n] = s.arg(id)
	}
	return "(" + strings.Join(marks, ",") + ")"
}

func (s *statement) and(format string, a ...any) {
	s.where = append(s.where, fmt.Sprintf(format, a...))
}

// repositories finds out where to search; any is false when that is nowhere.
func (s *statement) repositories(caller *account.Caller) (any bool, err error) {
	from := repo.FromVisible("r.id", caller) + s.scopes() // of an id that is its own: of any
	rows, err := s.tx.Query(`SELECT r.id, r.has_issues`+from+fmt.Sprintf(` LIMIT %d`, maxListed+1), s.args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	var off []int64 // those whose issues are switched off
	for rows.Next() {
		var id int64
		var has bool
		if err := rows.Scan(&id, &has); err != nil {
			return false, err
		}
		if s.few = append(s.few, id); !has {
			off = append(off, id)
		}
	}
	if err := rows.Err(); err != nil || len(s.few) == 0 {
		return false, err
	}
	s.confine(from, off)
	return true, nil
}

// confine keeps the statement to the repositories, and to the pull requests of
// those whose issues are switched off (decision 16).
func (s *statement) confine(from string, off []int64) {
	few := len(s.few) <= maxListed
	if few {
		s.args = nil // what only the SELECT needs
		s.scope = s.list(s.few)
	} else {
		s.few, s.scope = nil, `(SELECT r.id`+from+`)`
	}
	pull := property{kind: posting.ByPull, values: "(0)"}
	switch {
	case s.q.Pull == Yes:
		s.need(pull)
	case !few:
		s.and("(p.repo_id NOT IN (SELECT id FROM repos WHERE NOT has_issues) OR %s)", posted(pull))
	case len(off) > 0:
		s.and("(p.repo_id NOT IN %s OR %s)", s.list(off), posted(pull))
	}
}

// scopes are the conditions on repositories that the query has.
func (s *statement) scopes() string {
	n, q, b := s.names, s.q, ""
	repos, owners := n.repoIDs(q.Repos.Yes), n.ids(q.Owners.Yes)
	switch {
	case len(repos) > 0 && len(owners) > 0:
		b += " AND (r.id IN " + s.list(repos) + " OR r.owner_id IN " + s.list(owners) + ")"
	case len(repos) > 0:
		b += " AND r.id IN " + s.list(repos)
	case len(owners) > 0:
		b += " AND r.owner_id IN " + s.list(owners)
	}
	if not := n.repoIDs(q.Repos.No); len(not) > 0 {
		b += " AND r.id NOT IN " + s.list(not)
	}
	if not := n.ids(q.Owners.No); len(not) > 0 {
		b += " AND r.owner_id NOT IN " + s.list(not)
	}
	switch q.Public {
	case Yes:
		b += " AND NOT r.private"
	case No:
		b += " AND r.private"
	}
	return b
}

// words looks for the text; false when there are words and none can be found.
func (s *statement) words() bool {
	terms := func(all []string) (list []string) {
		for _, w := range all {
			if db.Searchable(w) {
				list = append(list, w)
			}
		}
		return list
	}
	f := db.Find{Terms: terms(s.q.Words), In: s.q.In}
	if len(s.few) <= maxScopes {
		f.Repos = s.few
	}
	if len(f.Terms) > 0 {
		s.find = f.SQL(s.tx, s.arg)
	} else if len(s.q.Words) > 0 && (&Query{Words: s.q.Words}).String() == s.q.String() {
		return false // nothing but punctuation
	}
	if f.Terms, f.Any = terms(s.q.NotWords), true; len(f.Terms) > 0 {
		s.and("p.issue_id NOT IN (SELECT issue_id FROM (%s) n)", f.SQL(s.tx, s.arg))
	}
	return true
}

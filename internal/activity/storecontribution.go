package activity

import (
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
)

// contributions reads what users contributed, and what does not count.
func contributions(tx *db.Tx, caller *account.Caller, of []account.ID) ([]Contribution, error) {
	if len(of) == 0 {
		return nil, nil
	}
	parts := make([]string, 0, 2*len(of))
	for n := range of {
		for _, public := range [...]string{`TRUE`, `FALSE`} {
			parts = append(parts, rangeOf(`x.*`, fmt.Sprintf(`x.actor_id = $%d AND x.public = %s`, n+2, public), Newest))
		}
	}
	s := selection{strings.Join(parts, ` UNION ALL `), db.Args(of)}
	return db.QueryList(tx, func(row db.Scanner) (c Contribution, err error) {
		var kind Kind
		var ref string
		var pull bool
		err = row.Scan(&c.By, &kind, &c.RepoID, &c.OrgID, &ref, &pull, &c.Number, &c.Subject, &c.At)
		c.Sort = sortOf(kind, ref, pull)
		return c, err
	}, `SELECT a.actor_id, a.kind, a.repo_id, COALESCE(a.org_id, 0), COALESCE(a.ref, ''),
			COALESCE((SELECT p.pull FROM issues p WHERE p.id = a.issue_id), FALSE),
			COALESCE((SELECT p.number FROM issues p WHERE p.id = a.issue_id), 0), COALESCE(a.subject_id, 0),
			a.created_at`+visible(caller, s),
		append([]any{account.IDOf(caller)}, s.args...)...)
}

// Contributed selects the column repo_id of public repositories to which a user, an expression, contributed of late:
// with pushes, issues, pull requests or reviews among the user's Newest public activities.
func Contributed(who string) string {
	return fmt.Sprintf(`SELECT repo_id FROM (SELECT x.repo_id, x.kind FROM activities x WHERE x.actor_id = %s AND x.public = TRUE
		ORDER BY x.id DESC LIMIT %d) lately WHERE kind IN (%d, %d, %d)`, who, Newest, Pushed, Opened, Reviewed)
}

package repo

import (
	"context"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/web"
)

// filter chooses repositories: those of the owner, or on which the collaborator
// has a role, or of organizations of the member (zero ids choose none), as far
// as visibleTo may see them.
type filter struct {
	owner, collaborator, member account.ID
	visibleTo                   *account.Caller
	visibility                  string  // public, private, or anything else for both
	granted                     bool    // only those that visibleTo has a role on beyond everyone's
	kind                        string  // forks, sources, or anything else for both
	since, before               db.Time // when they were updated; 0: whenever
	installation                int64   // only those that this installation of an App reaches; 0: any
	// hide: some of the owner's repositories are withdrawn forks, which are left out
	hide bool
}

// sqlBuilder collects conditions and their arguments; $1 is the caller.
type sqlBuilder struct {
	where []string
	args  []any
}

// arg adds an argument and returns its placeholder.
func (b *sqlBuilder) arg(v any) string {
	b.args = append(b.args, v)
	return fmt.Sprintf("$%d", len(b.args)+1)
}

func (b *sqlBuilder) and(condition string) { b.where = append(b.where, condition) }

// visibleTo holds if a person may see the repository r (decision 12). who is an
// expression for the person's id; the joined members m and collaborators c are of the
// same person. It is not for site administrators, who see all.
func visibleTo(who string) string { return `(NOT r.private OR ` + hasRole(who) + `)` }

// hasRole holds if the person may see the repository also while it is private, unless it
// is a withdrawn fork (decision 62).
func hasRole(who string) string {
	return `((r.owner_id = ` + who + ` OR m.owner OR (m.owner IS NOT NULL AND o.default_role > 0)
			OR c.role > 0)
		AND ` + notWithdrawn("r") + `)`
}

// visible is visibleTo for the caller, $1, as far as the token goes.
func visible(caller *account.Caller) string {
	if caller.SeesAll() {
		return `TRUE`
	}
	return `(NOT r.private OR ` + grantedTo(caller) + `)`
}

// grantedTo is hasRole for the caller, $1, as far as the token goes. A caller who sees all
// has a role everywhere.
func grantedTo(caller *account.Caller) string {
	switch {
	case caller.SeesAll():
		return `TRUE`
	case caller == nil || caller.Reach == account.Everything:
		return hasRole("$1")
	case caller.Reach == account.Installed:
		return installed(caller, "r")
	case caller.Reach == account.Chosen:
		return `(` + chosen(caller, "r.id") + ` AND ` + hasRole("$1") + `)`
	default:
		return `FALSE`
	}
}

// chosen holds if a fine-grained token was made for the repository of the id, an expression.
// The token's id is no text of a client's, and stands in the query, since many queries have no
// argument to spare.
func chosen(caller *account.Caller, id string) string {
	return fmt.Sprintf(`EXISTS (SELECT 1 FROM token_repos z WHERE z.token_id = %d AND z.repo_id = %s)`, caller.TokenID, id)
}

// installed holds if an App's token reaches the repository of the name r. The ids in it are no texts of a
// client's.
func installed(caller *account.Caller, r string) string {
	return `(` + caller.CoversSQL(r+".owner_id", r+".id") + ` AND ` + notWithdrawn(r) + `)`
}

// notWithdrawn holds for a repository that is no withdrawn fork.
func notWithdrawn(r string) string {
	return `NOT EXISTS (SELECT 1 FROM withdrawn_forks w WHERE w.id = ` + r + `.id)`
}

func (f *filter) build() *sqlBuilder {
	b := &sqlBuilder{}
	var from []string
	if f.owner != 0 {
		from = append(from, `SELECT id FROM repos WHERE owner_id = `+b.arg(f.owner))
	}
	if f.collaborator != 0 {
		from = append(from, `SELECT repo_id FROM collaborators WHERE user_id = `+b.arg(f.collaborator))
	}
	if f.member != 0 {
		from = append(from, `SELECT x.id FROM members y JOIN accounts z ON z.id = y.org_id JOIN repos x ON x.owner_id = y.org_id
			WHERE y.user_id = `+b.arg(f.member)+` AND (y.owner OR z.default_role > 0)`)
	}
	b.and("r.id IN (" + strings.Join(from, " UNION ") + ")")
	b.and(visible(f.visibleTo))
	if f.granted {
		b.and(grantedTo(f.visibleTo))
	}
	if f.installation != 0 {
		b.and(`EXISTS (SELECT 1 FROM installations n WHERE n.id = ` + b.arg(f.installation) + ` AND n.account_id = r.owner_id
			AND (n.every OR EXISTS (SELECT 1 FROM installation_repos z WHERE z.installation_id = n.id AND z.repo_id = r.id)))`)
	}
	switch f.kind {
	case "forks":
		b.and("r.parent_id IS NOT NULL")
	case "sources":
		b.and("r.parent_id IS NULL")
	}
	switch f.visibility {
	case "public":
		b.and("NOT r.private")
	case "private":
		b.and("r.private")
	}
	if f.since != 0 {
		b.and("r.updated_at >= " + b.arg(f.since))
	}
	if f.before != 0 {
		b.and("r.updated_at < " + b.arg(f.before))
	}
	return b
}

// listRepos reads a page and the total number of rows.
func listRepos(tx *db.Tx, f filter, o order, page web.Page) ([]*Access, int64, error) {
	limited := f.visibleTo != nil && f.visibleTo.Reach != account.Everything
	if f.collaborator+f.member == 0 && f.since == 0 && f.before == 0 && f.installation == 0 && !limited {
		return listOfOwner(tx, f, o, page)
	}
	b := f.build()
	where := `WHERE ` + strings.Join(b.where, " AND ")
	total, err := countRepos(tx, f.visibleTo, where, b.args)
	if err != nil || page.Offset() >= total {
		return nil, total, err
	}
	where += o.sql() + ` LIMIT ` + b.arg(page.Size) + ` OFFSET ` + b.arg(page.Offset())
	list, err := queryAccess(tx, f.visibleTo, where, b.args...)
	return list, total, err
}

// ListInstalled reads a page of the repositories that an App's installation on an account reaches, as far as the
// caller has a role on them beyond everyone's, and how many there are.
func ListInstalled(
	tx *db.Tx, caller *account.Caller, owner account.ID, installation int64, page web.Page,
) ([]*Access, int64, error) {
	f := filter{owner: owner, visibleTo: caller, granted: true, installation: installation}
	return listRepos(tx, f, order{sort: "created"}, page)
}

// publicAfter lists public repositories by id, beginning after since.
func publicAfter(tx *db.Tx, caller *account.Caller, since ID, limit int64) ([]*Access, error) {
	return queryAccess(tx, caller, `WHERE r.id > $2 AND NOT r.private ORDER BY r.id LIMIT $3`, since, limit)
}

func countRepos(tx *db.Tx, caller *account.Caller, where string, args []any) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*)`+accessFrom+where, append([]any{account.IDOf(caller)}, args...)...).Scan(&n)
	return n, err
}

// sql is the ORDER BY: total, ties broken by id (decision 24).
func (o order) sql() string {
	direction := " ASC"
	if o.desc {
		direction = " DESC"
	}
	switch o.sort {
	case "full_name":
		return " ORDER BY o.login_folded" + direction + ", r.name_folded" + direction + ", r.id" + direction
	default:
		return " ORDER BY r." + o.sort + "_at" + direction + ", r.id" + direction
	}
}

// eachPage is how many repositories Each reads in one query.
const eachPage = 500

// Each calls fn with all repositories by id, or with those of one owner: for the operator.
func (s *Service) Each(ctx context.Context, ownerID account.ID, fn func(*Repo) error) error {
	operator := &account.Caller{SiteAdmin: true}
	for since := ID(0); ; {
		var list []*Access
		err := s.db.Read(ctx, func(tx *db.Tx) (err error) {
			list, err = queryAccess(tx, operator, `WHERE r.id > $2 AND (CAST($3 AS BIGINT) = 0 OR r.owner_id = CAST($3 AS BIGINT))
				ORDER BY r.id LIMIT $4`, since, ownerID, eachPage)
			return err
		})
		if err != nil {
			return err
		}
		for _, a := range list {
			since = a.ID
			if err := fn(a.Repo); err != nil {
				return err
			}
		}
		if len(list) < eachPage {
			return nil
		}
	}
}

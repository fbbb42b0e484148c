package list

import (
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// filter chooses repositories: those of the owner, or on which the collaborator
// has a role, or of organizations and teams of the member (zero ids choose none), as far
// as visibleTo may see them.
type filter struct {
	owner, collaborator, member account.ID
	visibleTo                   *account.Caller
	visibility                  string // public, private, or anything else for both
	// only those that visibleTo has a role on beyond everyone's
	granted             bool
	kind                string                 // forks, sources, or anything else for both
	archived, hasIssues web.Opt[bool]          // whether they are, and have; not set: either
	since, before       db.Time                // when they were updated; 0: whenever
	installation        account.InstallationID // only those that this installation of an App reaches; 0: any
	// hide: some of the owner's repositories are withdrawn forks or are being deleted. The list leaves both out.
	// For site administrators it leaves out only those that are being deleted
	hide bool
	// uncounted: the total is needed only to know whether more follow the page
	uncounted bool
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

func (f *filter) build() *sqlBuilder {
	b := &sqlBuilder{}
	f.add(b)
	return b
}

// add adds the filter's conditions.
func (f *filter) add(b *sqlBuilder) {
	var from []string
	if f.owner != 0 {
		from = append(from, `SELECT id FROM repos WHERE owner_id = `+b.arg(f.owner))
	}
	if f.collaborator != 0 {
		from = append(from, `SELECT repo_id FROM collaborators WHERE user_id = `+b.arg(f.collaborator))
	}
	if f.member != 0 {
		from = append(from, `SELECT x.id FROM members y JOIN accounts z ON z.id = y.org_id
			JOIN repos x ON x.owner_id = y.org_id
			WHERE y.user_id = `+b.arg(f.member)+` AND (y.owner OR z.default_role > 0)`,
			repo.TeamRepos(b.arg(f.member)))
	}
	b.and("r.id IN (" + strings.Join(from, " UNION ") + ")")
	b.and(repo.Visible(f.visibleTo))
	if f.granted {
		b.and(repo.GrantedTo(f.visibleTo))
	}
	if f.installation != 0 {
		b.and(`EXISTS (SELECT 1 FROM installations n WHERE n.id = ` + b.arg(f.installation) +
			` AND n.account_id = r.owner_id
			AND (n.every OR EXISTS (SELECT 1 FROM installation_repos z WHERE z.installation_id = n.id
			AND z.repo_id = r.id)))`)
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
	for column, has := range map[string]web.Opt[bool]{"archived": f.archived, "has_issues": f.hasIssues} {
		if has.Set {
			b.and("r." + column + " = " + map[bool]string{true: "TRUE", false: "FALSE"}[has.Value])
		}
	}
	if f.since != 0 {
		b.and("r.updated_at >= " + b.arg(f.since))
	}
	if f.before != 0 {
		b.and("r.updated_at < " + b.arg(f.before))
	}
}

// listRepos reads a page and the total number of rows. An uncounted list counts only what it reads.
func listRepos(tx *db.Tx, f filter, o Order, page web.Page) ([]*repo.Access, int64, error) {
	limited := f.visibleTo != nil && f.visibleTo.Reach != account.Everything || f.visibleTo.AsksReach()
	chosen := f.since != 0 || f.before != 0 || f.archived.Set || f.hasIssues.Set
	if f.collaborator+f.member == 0 && !chosen && f.installation == 0 && !limited {
		return listOfOwner(tx, f, o, page)
	}
	b := f.build()
	if f.uncounted {
		list, err := f.read(tx, b, o, page.Offset(), page.Size+1)
		return list[:min(int64(len(list)), page.Size)], page.Offset() + int64(len(list)), err
	}
	total, err := repo.Count(tx, f.visibleTo, `WHERE `+strings.Join(b.where, " AND "), b.args...)
	if err != nil || page.Offset() >= total {
		return nil, total, err
	}
	list, err := f.read(tx, b, o, page.Offset(), page.Size)
	return list, total, err
}

// read reads some of the repositories that meet the conditions.
func (f *filter) read(tx *db.Tx, b *sqlBuilder, o Order, offset, size int64) ([]*repo.Access, error) {
	where := `WHERE ` + strings.Join(b.where,
		" AND ") + o.sql() + ` LIMIT ` + b.arg(size) + ` OFFSET ` + b.arg(offset)
	return repo.Query(tx, f.visibleTo, where, b.args...)
}

// Installed reads a page of the repositories of an App's installation on which the caller has an explicit
// role, and their total number.
func Installed(
	tx *db.Tx, caller *account.Caller, owner account.ID, installation account.InstallationID, page web.Page,
) ([]*repo.Access, int64, error) {
	f := filter{owner: owner, visibleTo: caller, granted: true, installation: installation}
	return listRepos(tx, f, Order{By: "created"}, page)
}

// publicAfter lists public repositories by id, beginning after since.
func publicAfter(tx *db.Tx, caller *account.Caller, since repo.ID, limit int64) ([]*repo.Access, error) {
	return repo.Query(tx, caller, `WHERE r.id > $2 AND NOT r.private ORDER BY r.id LIMIT $3`, since, limit)
}

// sql is the ORDER BY: total, ties broken by id (decision 24).
func (o Order) sql() string {
	direction := " ASC"
	if o.Desc {
		direction = " DESC"
	}
	switch o.By {
	case "full_name":
		return " ORDER BY o.login_folded" + direction + ", r.name_folded" + direction + ", r.id" + direction
	case "stars":
		return " ORDER BY r.stars" + direction + ", r.id" + direction
	default:
		return " ORDER BY r." + o.By + "_at" + direction + ", r.id" + direction
	}
}

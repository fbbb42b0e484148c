package list

import (
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// listOfOwner lists one owner's repositories at a cost that depends on the page
// and not on how many there are: the total comes from the owner's counters, a
// deep page walks one index, and only the page's rows are fetched.
func listOfOwner(tx *db.Tx, f filter, o Order, page web.Page) ([]*repo.Access, int64, error) {
	owner, err := account.ByID(tx, f.owner)
	if err != nil {
		return nil, 0, err
	}
	all, err := seesAll(tx, f.visibleTo, owner)
	if err != nil {
		return nil, 0, err
	}
	f.hide = owner.Withdrawn > 0
	total, err := f.ownerTotal(tx, owner, all)
	if err != nil || page.Offset() >= total {
		return nil, total, err
	}
	ids, err := f.ownerPage(tx, all, o, page)
	if err != nil {
		return nil, total, err
	}
	found, err := repo.InOrder(tx, f.visibleTo, ids)
	return found, total, err
}

// seesAll reports that the caller may see everything that the owner has.
func seesAll(tx *db.Tx, caller *account.Caller, owner *account.Account) (bool, error) {
	switch {
	case caller == nil:
		return false, nil
	case caller.SeesAll() || caller.ID == owner.ID:
		return true, nil
	case owner.Kind != account.Organization:
		return false, nil
	}
	member, orgOwner, err := account.OrgRole(tx, owner.ID, caller.ID)
	return orgOwner || member && owner.DefaultRole >= account.Pull, err
}

// collaborates holds when the caller, $2, was granted a role on the repository.
var collaborates = repo.GrantedRole("r.id", "$2") + ` IS NOT NULL`

// ownerTotal counts what the whole list has.
func (f *filter) ownerTotal(tx *db.Tx, owner *account.Account, all bool) (int64, error) {
	if f.kind == "forks" {
		return f.countForks(tx, all)
	}
	total, err := f.ownerTotalOfBoth(tx, owner, all)
	if err != nil || f.kind != "sources" {
		return total, err
	}
	forks, err := f.countForks(tx, all)
	return total - forks, err
}

// countForks counts the owner's forks, in their index alone.
func (f *filter) countForks(tx *db.Tx, all bool) (n int64, err error) {
	forks := *f
	forks.kind = "forks"
	where, args := forks.ofOwner(all)
	err = tx.QueryRow(`SELECT count(*) FROM repos r WHERE `+where, args...).Scan(&n)
	return n, err
}

// ownerTotalOfBoth counts forks and sources together.
func (f *filter) ownerTotalOfBoth(tx *db.Tx, owner *account.Account, all bool) (int64, error) {
	public, private := owner.PublicRepos, owner.PrivateRepos
	if f.hide && f.visibleTo.SeesAll() {
		n, err := countWithdrawn(tx, owner.ID)
		if err != nil {
			return 0, err
		}
		private += n
	}
	if !all {
		var err error
		if public, private, err = f.countGranted(tx); err != nil {
			return 0, err
		}
		if !f.granted {
			public = owner.PublicRepos
		}
	}
	switch f.visibility {
	case "public":
		return public, nil
	case "private":
		return private, nil
	default:
		return public + private, nil
	}
}

// countWithdrawn counts the owner's withdrawn forks.
func countWithdrawn(tx *db.Tx, owner account.ID) (n int64, err error) {
	err = tx.QueryRow(`SELECT count(*) FROM withdrawn_forks w JOIN repos r ON r.id = w.id
		WHERE w.owner_id = $1 AND `+repo.NotDeleted("r"), owner).Scan(&n)
	return n, err
}

// shown holds for a repository r that is not hidden.
func (f *filter) shown() string {
	if f.visibleTo.SeesAll() {
		return repo.NotDeleted("r")
	}
	return repo.NotWithdrawn("r")
}

// countGranted counts the owner's repositories on which a role was granted to
// who must see them.
func (f *filter) countGranted(tx *db.Tx) (public, private int64, err error) {
	query := `SELECT count(*), COALESCE(sum(CASE WHEN r.private THEN 1 ELSE 0 END), 0)
		FROM (` + repo.GrantedRepos("$1") + `) c JOIN repos r ON r.id = c.repo_id WHERE r.owner_id = $2`
	if f.hide {
		query += ` AND ` + f.shown()
	}
	err = tx.QueryRow(query, account.IDOf(f.visibleTo), f.owner).Scan(&public, &private)
	return public - private, private, err
}

// ofOwner is the condition for a repository r of the owner to be in the list.
func (f *filter) ofOwner(all bool) (where string, args []any) {
	list, args := []string{"r.owner_id = $1"}, []any{f.owner}
	switch {
	case all:
	case f.granted:
		list, args = append(list, collaborates), append(args, account.IDOf(f.visibleTo))
	default:
		list, args = append(list, "(NOT r.private OR "+collaborates+")"),
			append(args, account.IDOf(f.visibleTo))
	}
	if f.hide {
		list = append(list, f.shown())
	}
	switch f.visibility {
	case "public":
		list = append(list, "NOT r.private")
	case "private":
		list = append(list, "r.private")
	}
	switch f.kind {
	case "forks":
		list = append(list, "r.parent_id IS NOT NULL")
	case "sources":
		list = append(list, "r.parent_id IS NULL")
	}
	return strings.Join(list, " AND "), args
}

// ownerPage reads the ids of a page, in order.
func (f *filter) ownerPage(tx *db.Tx, all bool, o Order, page web.Page) ([]repo.ID, error) {
	where, args := f.ofOwner(all)
	n := len(args)
	return db.QueryIDs[repo.ID](tx, fmt.Sprintf(`SELECT r.id FROM repos r WHERE %s%s LIMIT $%d OFFSET $%d`,
		where, o.ofOwner(), n+1, n+2),
		append(args, page.Size, page.Offset())...)
}

// ofOwner is the ORDER BY within one owner's list.
func (o Order) ofOwner() string {
	direction := " ASC"
	if o.Desc {
		direction = " DESC"
	}
	if o.By == "full_name" {
		return " ORDER BY r.name_folded" + direction
	}
	if o.By == "stars" {
		return o.sql()
	}
	return " ORDER BY r." + o.By + "_at" + direction + ", r.id" + direction
}

package repo

import (
	"errors"
	"fmt"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
)

// accessColumns are the columns of accessFrom that scanAccess reads: a repository with its owner and the
// caller's roles. $1 is the caller's id, or 0.
//
// They are a format with a place for the numbers of forks, see columnsFor.
var accessColumns = `r.id, r.owner_id, r.name, r.description, r.homepage, r.private, r.default_branch,
	r.has_issues, r.archived, r.ruled OR o.ruled, r.merging, r.refs_generation, r.purges, r.packs, r.unreached,
	r.open_issues, r.stars, r.watchers,
	r.issues_generation, r.size_kb, r.created_at, r.updated_at, r.pushed_at,
	r.topics, r.language, r.license, r.is_template, COALESCE(r.template_id, 0),
	COALESCE(r.parent_id, 0), COALESCE(r.root_id, r.id), %s,
	o.login, o.kind, o.site_admin, o.default_role, m.owner, ` + grantedToCaller + `,
	r.private AND EXISTS (SELECT 1 FROM withdrawn_forks w WHERE w.id = r.id), ` + forkable + `,
	COALESCE((SELECT value FROM generations WHERE topic = '` + account.Topic + `'), 0),
	EXISTS (SELECT 1 FROM autolinks y WHERE y.repo_id = r.id),
	COALESCE((SELECT z.url FROM mirrors z WHERE z.repo_id = r.id AND z.push = FALSE), ''),
	EXISTS (SELECT 1 FROM import_jobs z WHERE z.repo_id = r.id AND z.active = TRUE)`

const accessFrom = ` FROM accounts o JOIN repos r ON r.owner_id = o.id
	LEFT JOIN members m ON m.org_id = o.id AND m.user_id = $1 `

// grantedToCaller is the best role that the caller, $1, was granted.
var grantedToCaller = GrantedRole("r.id", "$1")

// Columns for nearly all callers.
var (
	columnsByRole = fmt.Sprintf(accessColumns, forkColumns(PrivateForks(&account.Caller{})))
	columnsOfAll  = fmt.Sprintf(accessColumns, forkColumns(PrivateForks(&account.Caller{SiteAdmin: true})))
)

// columnsFor returns accessColumns with the forks that are visible to the caller counted.
func columnsFor(caller *account.Caller) string {
	if caller.AsksReach() {
		return fmt.Sprintf(accessColumns, forkColumns(PrivateForks(caller))) + `, ` +
			caller.ReachColumn("r")
	}
	switch {
	case caller.SeesAll():
		return columnsOfAll
	case caller == nil || caller.Reach < account.Chosen || caller.Reach == account.OneRepo:
		return columnsByRole
	default:
		return fmt.Sprintf(accessColumns, forkColumns(PrivateForks(caller)))
	}
}

// scanAccess reads accessColumns, and then more columns.
func scanAccess(row db.Scanner, caller *account.Caller, more ...any) (*Access, error) {
	var p Roles
	r := &Repo{}
	a := &Access{Repo: r, Caller: caller}
	if caller.AsksReach() {
		more = append([]any{&p.Reached}, more...)
	}
	err := row.Scan(append([]any{
		&r.ID, &r.OwnerID, &r.Name, &r.Description, &r.Homepage, &r.Private, &r.DefaultBranch,
		&r.HasIssues, &r.Archived, &r.Ruled, &r.Merging, &r.RefsGeneration, &r.Purges, &r.Packs, &r.Unreached,
		&r.OpenIssues, &r.Stars,
		&r.Watchers, &r.IssuesGeneration, &r.SizeKB, &r.CreatedAt,
		&r.UpdatedAt, &r.PushedAt,
		&r.Topics, &r.Language, &r.License, &r.IsTemplate, &r.TemplateID,
		&r.ParentID, &r.NetworkID, &r.Forks, &r.NetworkForks,
		&r.Owner.Login, &r.Owner.Kind, &r.Owner.SiteAdmin, &r.Owner.DefaultRole, &p.Owner, &p.Granted,
		&r.Withdrawn, &r.AllowForking,
		&a.AccountsGeneration, &r.Autolinks, &r.MirrorURL, &r.Importing}, more...)...)
	if errors.Is(err, db.ErrNoRows) {
		return nil, errs.Absent()
	}
	if err != nil {
		return nil, err
	}
	r.Owner.ID = r.OwnerID
	a.Role, a.reached = p.Role(caller, r), p.Reached
	a.Member = p.Owner != nil && !caller.HidesMembers && !a.closed()
	a.Granted = p.grantedRole(caller, r) >= account.Pull &&
		a.Most(true) >= account.Pull
	return a, nil
}

func accessByName(tx *db.Tx, caller *account.Caller, owner, name string) (*Access, error) {
	return scanAccess(tx.QueryRow(`SELECT `+columnsFor(caller)+accessFrom+
		`WHERE o.login_folded = $2 AND r.name_folded = $3`, account.IDOf(caller), owner, name), caller)
}

// formerName selects the repository with the owner and the name, both expressions, if at least one of them is a
// former one: a repository that has the name now, or else one that had it.
func formerName(owner, name string) string {
	return `COALESCE(
		(SELECT x.id FROM former_logins f JOIN repos x ON x.owner_id = f.account_id
			WHERE f.login_folded = ` + owner + ` AND x.name_folded = ` + name + `),
		(SELECT d.repo_id FROM repo_redirects d WHERE d.name_folded = ` + name + ` AND d.owner_id = COALESCE(
			(SELECT id FROM accounts WHERE login_folded = ` + owner + `),
			(SELECT account_id FROM former_logins WHERE login_folded = ` + owner + `))))`
}

func accessByFormerName(tx *db.Tx, caller *account.Caller, owner, name string) (*Access, error) {
	return scanAccess(tx.QueryRow(`SELECT `+columnsFor(caller)+accessFrom+
		`WHERE r.id = `+formerName("$2", "$3"), account.IDOf(caller), owner, name), caller)
}

// byFormerNames finds the repositories that had names OWNER/NAME, folded, by these.
func byFormerNames(tx *db.Tx, names []string) (map[string]ID, error) {
	found := map[string]ID{}
	return found, db.InParts(names, func(part []string) error {
		parts, args := make([]string, len(part)), make([]any, 0, 2*len(part))
		for n, full := range part {
			owner, name, _ := strings.Cut(full, "/")
			args = append(args, owner, name)
			parts[n] = fmt.Sprintf(`SELECT %d AS n, `, n) +
				formerName(fmt.Sprintf("$%d", 2*n+1), fmt.Sprintf("$%d", 2*n+2)) + ` AS id`
		}
		return db.QueryEach(tx, func(row db.Scanner) error {
			var n int
			var id ID
			err := row.Scan(&n, &id)
			found[part[n]] = id
			return err
		}, `SELECT n, id FROM (`+strings.Join(parts, ` UNION ALL `)+`) f WHERE id IS NOT NULL`, args...)
	})
}

// ByID reads a repository with the role of the caller, which may be nil. The role may be below Pull. Error:
// 404 for an unknown one.
func ByID(tx *db.Tx, caller *account.Caller, id ID) (*Access, error) {
	query, args := selectByID(caller, id)
	return scanAccess(tx.QueryRow(query, args...), caller)
}

func selectByID(caller *account.Caller, id ID) (query string, args []any) {
	return `SELECT ` + columnsFor(caller) + accessFrom + `WHERE r.id = $2`, []any{account.IDOf(caller), id}
}

// accessAgain is ByID for a caller whose token may have been revoked, or who may no longer be a site
// administrator. Errors: 401, 404.
func accessAgain(tx *db.Tx, caller *account.Caller, id ID) (*Access, error) {
	if caller != nil && (caller.KeyID != 0 || caller.App != 0 || caller.ForApp != 0) {
		now, err := account.Again(tx, caller)
		if err != nil {
			return nil, err
		}
		return ByID(tx, now, id)
	}
	if caller == nil || caller.TokenID == 0 {
		return ByID(tx, caller, id)
	}
	now := *caller
	query, args := selectAgain(tx, caller, id)
	a, err := scanAccess(tx.QueryRow(query, args...), &now, &now.SiteAdmin)
	if errs.Is(err, errs.NotFound) {
		if _, gone := account.Again(tx, caller); gone != nil {
			return nil, gone
		}
	}
	return a, err
}

// selectAgain returns the query of accessAgain for tokens and anonymous callers.
func selectAgain(tx *db.Tx, caller *account.Caller, id ID) (query string, args []any) {
	if caller == nil || caller.TokenID == 0 {
		return selectByID(caller, id)
	}
	return `SELECT ` + columnsFor(caller) + `, u.site_admin AND $5` + accessFrom + `JOIN accounts u ON u.id = $1
		WHERE r.id = $2 AND ` + account.TokenHolds("$3", "$4"),
		[]any{caller.ID, id, caller.TokenID, tx.Now, caller.SiteAdmin}
}

// Query reads repositories. where follows FROM and may use $2 onwards.
func Query(tx *db.Tx, caller *account.Caller, where string, args ...any) ([]*Access, error) {
	return db.QueryList(tx, func(row db.Scanner) (*Access, error) { return scanAccess(row, caller) },
		`SELECT `+columnsFor(caller)+accessFrom+where, append([]any{account.IDOf(caller)}, args...)...)
}

// ReserveID returns a new unique id and records that its directory is in use, until insertRepo or
// releaseID. Until then the row has an impossible name.
func ReserveID(tx *db.Tx, ownerID account.ID) (id ID, err error) {
	err = tx.QueryRow(`INSERT INTO repos (owner_id, name, name_folded, private, default_branch, created_at,
		updated_at, pushed_at)
		VALUES ($1, '/', '/', true, '', $2, $2, $2) RETURNING id`, ownerID, tx.Now).Scan(&id)
	if err != nil {
		return 0, err
	}
	if err := DeleteRow(tx, id); err != nil {
		return 0, err
	}
	_, err = tx.Exec(`INSERT INTO reserved_repos (id, at) VALUES ($1, `+tx.Engine().Clock()+`)`, id)
	return id, err
}

// releaseID ends a reservation and reports whether there was one.
func releaseID(tx *db.Tx, id ID) (bool, error) {
	n, err := tx.Exec(`DELETE FROM reserved_repos WHERE id = $1`, id)
	return n == 1, err
}

// insertRepo inserts the repository, and sets its id unless it was reserved. If its name is a former name,
// that no longer redirects. Errors: 422 if the name exists; 503 if the reservation has expired.
func insertRepo(tx *db.Tx, r *Repo) error {
	if r.ID != 0 {
		if reserved, err := releaseID(tx, r.ID); err != nil || !reserved {
			return errors.Join(err,
				errs.New(errs.Unavailable, "making the repository took too long, try again"))
		}
	}
	folded := account.Fold(r.Name)
	columns, values := `owner_id, name, name_folded, description, homepage, private,
		default_branch, has_issues, created_at, updated_at, pushed_at, size_kb, parent_id, root_id, merging,
		is_template, template_id, packs`,
		`$1, $2, $3, $4, $5, $6, $7, $8, $9, $9, $10, $11, $12, $13, $14, $15, $16, $17`
	var parent, root any
	if r.ParentID != 0 {
		parent, root = r.ParentID, r.NetworkID
	}
	args := []any{r.OwnerID, r.Name, folded, r.Description, r.Homepage, r.Private,
		r.DefaultBranch, r.HasIssues, r.CreatedAt,
		r.PushedAt, r.SizeKB, parent, root, int64(r.Merging), r.IsTemplate, db.OrNull(r.TemplateID), r.Packs}
	if r.ID != 0 {
		columns, values, args = columns+", id", values+", $18", append(args, r.ID)
	}
	err := tx.QueryRow(`INSERT INTO repos (`+columns+`) VALUES (`+values+`)
		ON CONFLICT (owner_id, name_folded) DO NOTHING RETURNING id`, args...).Scan(&r.ID)
	if errors.Is(err, db.ErrNoRows) {
		return ErrNameTaken()
	}
	if err != nil {
		return err
	}
	if r.ParentID == 0 {
		r.NetworkID = r.ID
	}
	return DropRedirect(tx, r.OwnerID, folded)
}

// DropRedirect deletes the redirect from an address that another repository gets.
func DropRedirect(tx *db.Tx, ownerID account.ID, folded string) error {
	_, err := tx.Exec(`DELETE FROM repo_redirects WHERE owner_id = $1 AND name_folded = $2`, ownerID, folded)
	return err
}

// ownerOf reads the id and the login of a repository's owner. Error: 404.
func ownerOf(tx *db.Tx, id ID) (*account.Account, error) {
	var owner account.Account
	err := tx.QueryRow(`SELECT a.id, a.login FROM repos r JOIN accounts a ON a.id = r.owner_id WHERE r.id = $1`, id).
		Scan(&owner.ID, &owner.Login)
	if errors.Is(err, db.ErrNoRows) {
		err = errs.Absent()
	}
	return &owner, err
}

// growRepo adds to the stored size of a repository.
func growRepo(tx *db.Tx, id ID, kb int64) error {
	_, err := tx.Exec(`UPDATE repos SET size_kb = size_kb + $2 WHERE id = $1`, id, kb)
	return err
}

// Lock locks the repository's row until the transaction ends, so that concurrent decisions about it are
// serialized. Error: 404 if it was deleted.
func Lock(tx *db.Tx, id ID) error {
	n, err := tx.Exec(`UPDATE repos SET owner_id = owner_id WHERE id = $1`, id)
	if err == nil && n == 0 {
		return errs.Absent()
	}
	return err
}

// DeleteRow deletes the repository's row and all rows that refer to it: refs, issues, pull requests,
// collaborators, stars. Error: 404.
func DeleteRow(tx *db.Tx, id ID) error {
	n, err := tx.Exec(`DELETE FROM repos WHERE id = $1`, id)
	if err == nil && n == 0 {
		return errs.Absent()
	}
	return err
}

// MergingNow reads the merge settings of a repository whose row is locked.
func MergingNow(tx *db.Tx, id ID) (m Merging, err error) {
	err = tx.QueryRow(`SELECT merging FROM repos WHERE id = $1`, id).Scan(&m)
	return m, err
}

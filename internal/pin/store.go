package pin

import (
	"maps"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/activity"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// pinned is a row of table pins.
type pinned struct {
	of   account.ID
	repo repo.ID
}

// read returns what accounts have pinned, in the order of each.
func read(tx *db.Tx, of []account.ID) ([]pinned, error) {
	if len(of) == 0 {
		return nil, nil
	}
	return db.QueryList(tx, func(row db.Scanner) (p pinned, err error) {
		err = row.Scan(&p.of, &p.repo)
		return p, err
	}, `SELECT account_id, repo_id FROM pins WHERE account_id IN `+db.ValuesFrom(1, 1, len(of))+`
		ORDER BY account_id, place, repo_id`, db.Args(of)...)
}

// replace makes the list the pins of an account.
func replace(tx *db.Tx, of account.ID, list []repo.ID) error {
	if _, err := tx.Exec(`DELETE FROM pins WHERE account_id = $1`, of); err != nil || len(list) == 0 {
		return err
	}
	var args []any
	for n, id := range list {
		args = append(args, of, id, n)
	}
	_, err := tx.Exec(`INSERT INTO pins (account_id, repo_id, place) VALUES `+db.Values(len(list), 3), args...)
	return err
}

func remove(tx *db.Tx, of account.ID, id repo.ID) error {
	_, err := tx.Exec(`DELETE FROM pins WHERE account_id = $1 AND repo_id = $2`, of, id)
	return err
}

// pinnableBy is the condition that an account can pin the repository r, if the caller may see it. who is an expression
// for the id of the account.
func pinnableBy(caller *account.Caller, of *account.Account, who string) string {
	if of.Kind == account.Organization {
		return `r.owner_id = ` + who
	}
	from := `SELECT id FROM repos WHERE owner_id = ` + who + ` UNION ` + activity.Contributed(who)
	if account.IDOf(caller) == of.ID {
		from += ` UNION ` + repo.GrantedRepos(who)
	}
	return `NOT r.private AND r.id IN (` + from + `)`
}

// pinnable returns those of the repositories that an account can pin and the caller sees.
func pinnable(tx *db.Tx, caller *account.Caller, of *account.Account, ids []repo.ID) ([]repo.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := repo.Query(tx, caller, `WHERE r.id IN `+db.ValuesFrom(3, 1, len(ids))+` AND `+repo.Visible(caller)+
		` AND `+pinnableBy(caller, of, "$2"), db.Args(ids, of.ID)...)
	return repo.IDsOf(found), err
}

// choices reads a page of what each account can pin, with three statements at most.
func choices(
	tx *db.Tx, caller *account.Caller, of map[account.ID]*account.Account, words string, at web.Page,
) (map[account.ID]*web.List[*repo.Access], error) {
	args, where := []any{account.IDOf(caller)}, ` AND `
	if words != "" {
		where = ` AND r.name_folded LIKE $2 ESCAPE '!' AND `
		args = append(args, "%"+strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(account.Fold(words))+"%")
	}
	found, err := db.PageOfEach[account.ID, repo.ID](tx, slices.Collect(maps.Keys(of)), db.Lists[account.ID]{
		Columns: `r.id, 0`, Order: `r.stars DESC, r.name_folded, r.id`, From: func(id account.ID, param string) string {
			return repo.FromVisibleIn("", caller) + where + pinnableBy(caller, of[id], param)
		}}, at.Offset(), at.Size, args...)
	if err != nil {
		return nil, err
	}
	repos, err := repo.ByIDs(tx, caller, db.ListedIDs(found))
	return web.ListOfEach(at, found, func(r db.ListRow[repo.ID]) (*repo.Access, bool) {
		return repos[r.ID], repos[r.ID] != nil
	}), err
}

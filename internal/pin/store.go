package pin

import (
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

// pinnableBy is the condition that an account, $2, can pin the repository r, as far as the caller, $1, may know.
func pinnableBy(caller *account.Caller, of *account.Account) string {
	if of.Kind == account.Organization {
		return repo.Visible(caller) + ` AND r.owner_id = $2`
	}
	from := `SELECT id FROM repos WHERE owner_id = $2 UNION ` + activity.Contributed("$2")
	if account.IDOf(caller) == of.ID {
		from += ` UNION ` + repo.GrantedRepos("$2")
	}
	return repo.Visible(caller) + ` AND NOT r.private AND r.id IN (` + from + `)`
}

// pinnable returns those of the repositories that an account can pin and the caller sees.
func pinnable(tx *db.Tx, caller *account.Caller, of *account.Account, ids []repo.ID) ([]repo.ID, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := repo.Query(tx, caller, `WHERE r.id IN `+db.ValuesFrom(3, 1, len(ids))+` AND `+pinnableBy(caller, of),
		append([]any{of.ID}, db.Args(ids)...)...)
	return repo.IDsOf(found), err
}

// choices reads a page of what an account can pin, and how many there are.
func choices(
	tx *db.Tx, caller *account.Caller, of *account.Account, words string, at web.Page,
) ([]*repo.Access, int64, error) {
	where, args := `WHERE `+pinnableBy(caller, of), []any{of.ID}
	place := "$3 OFFSET $4"
	if words != "" {
		place = "$4 OFFSET $5"
		where, args = where+` AND `+`r.name_folded LIKE $3 ESCAPE '!'`,
			append(args, "%"+strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(account.Fold(words))+"%")
	}
	total, err := repo.Count(tx, caller, where, args...)
	if err != nil || at.Offset() >= total {
		return nil, total, err
	}
	found, err := repo.Query(tx, caller, where+` ORDER BY r.stars DESC, r.name_folded, r.id LIMIT `+place,
		append(args, at.Size, at.Offset())...)
	return found, total, err
}

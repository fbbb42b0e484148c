package list

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// listTogether sets in found a page of what each filter chooses, with three statements.
func listTogether(
	tx *db.Tx, caller *account.Caller, filters map[account.ID]*filter, o Order, page web.Page,
	found map[account.ID]*web.List[*repo.Access],
) error {
	of := slices.Sorted(maps.Keys(filters))
	if len(of) == 0 {
		return nil
	}
	totals, err := countTogether(tx, caller, of, filters)
	if err != nil {
		return err
	}
	for _, id := range of {
		found[id] = &web.List[*repo.Access]{Total: totals[id], More: page.Offset()+page.Size < totals[id]}
	}
	rows, err := pagesTogether(tx, caller, of, filters, o, page)
	if err != nil {
		return err
	}
	ids := make([]repo.ID, len(rows))
	for n, row := range rows {
		ids[n] = row.id
	}
	repos, err := repo.ByIDs(tx, caller, db.Unique(ids))
	for _, row := range rows {
		if a := repos[row.id]; a != nil {
			found[row.of].Rows = append(found[row.of].Rows, a)
		}
	}
	return err
}

// chosen is a repository of the list of an account.
type chosen struct {
	of account.ID
	id repo.ID
}

// from returns what each filter chooses, as the rest of a statement from FROM on. The arguments are b's.
func (b *sqlBuilder) from(f *filter) string {
	b.where = nil
	f.add(b)
	return repo.FromVisible("r.id", f.visibleTo) + ` AND ` + strings.Join(b.where, " AND ")
}

// countTogether counts what each filter chooses.
func countTogether(
	tx *db.Tx, caller *account.Caller, of []account.ID, filters map[account.ID]*filter,
) (map[account.ID]int64, error) {
	b, parts := &sqlBuilder{}, make([]string, len(of))
	for n, id := range of {
		parts[n] = fmt.Sprintf(`SELECT CAST(%d AS BIGINT), count(*)`, id) + b.from(filters[id])
	}
	return db.QueryMap[account.ID, int64](tx, strings.Join(parts, ` UNION ALL `),
		append([]any{account.IDOf(caller)}, b.args...)...)
}

// pagesTogether reads the ids of a page of what each filter chooses, in order.
func pagesTogether(tx *db.Tx, caller *account.Caller, of []account.ID, filters map[account.ID]*filter, o Order,
	page web.Page) ([]chosen, error) {
	b, parts := &sqlBuilder{}, make([]string, len(of))
	for n, id := range of {
		parts[n] = fmt.Sprintf(`SELECT CAST(%d AS BIGINT) AS of_id, r.id AS id, row_number() OVER (%s) AS place`, id,
			strings.TrimSpace(o.sql())) + b.from(filters[id])
	}
	first, last := b.arg(page.Offset()), b.arg(page.Offset()+page.Size)
	return db.QueryList(tx, func(row db.Scanner) (one chosen, err error) {
		err = row.Scan(&one.of, &one.id)
		return one, err
	}, `SELECT of_id, id FROM (`+strings.Join(parts, ` UNION ALL `)+`) p WHERE place > `+first+` AND place <= `+last+
		` ORDER BY of_id, place`, append([]any{account.IDOf(caller)}, b.args...)...)
}

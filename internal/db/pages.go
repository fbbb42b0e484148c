package db

import (
	"fmt"
	"strings"
)

// ListRow is a row of a list: an id, and a number that the list has with it.
type ListRow[ID ~int64] struct {
	ID     ID
	Number int64
}

// ListPage is a page of a list and the length of the whole list.
type ListPage[ID ~int64] struct {
	Rows  []ListRow[ID]
	Total int64
}

// Lists says how to read a list for each of several keys.
type Lists[K any] struct {
	Columns string                         // the id and the number of a row
	From    func(k K, param string) string // the list of k, from FROM on; param is the placeholder of k
	Order   string                         // what follows ORDER BY; no two rows are equal
}

// PageOfEach reads a page of the list of each key with two statements at most: one for the rows, and one that counts the
// lists whose length the rows do not show. args are the arguments from $1 on; From must use each of them.
func PageOfEach[K ~int64, ID ~int64](
	tx *Tx, keys []K, l Lists[K], offset, size int64, args ...any,
) (map[K]*ListPage[ID], error) {
	found := make(map[K]*ListPage[ID], len(keys))
	if len(keys) == 0 {
		return found, nil
	}
	parts, all := make([]string, len(keys)), Args(keys, args...)
	for n, k := range keys {
		found[k] = &ListPage[ID]{}
		parts[n] = fmt.Sprintf(`SELECT * FROM (SELECT %d AS list, %s, row_number() OVER (ORDER BY %s) AS place %s
			ORDER BY %[3]s LIMIT $%[5]d OFFSET $%[6]d) p%[1]d`, n, l.Columns, l.Order, l.From(k, param(len(args)+1+n)),
			len(all)+1, len(all)+2)
	}
	err := QueryEach(tx, func(row Scanner) error {
		var n int
		var r ListRow[ID]
		var place int64
		err := row.Scan(&n, &r.ID, &r.Number, &place)
		found[keys[n]].Rows = append(found[keys[n]].Rows, r)
		return err
	}, strings.Join(parts, ` UNION ALL `)+` ORDER BY 1, 4`, append(all, size, offset)...)
	if err != nil {
		return nil, err
	}
	return found, countEach(tx, keys, l, offset, size, found, args)
}

// countEach sets the lengths of lists, and counts those that are longer than their page shows.
func countEach[K ~int64, ID ~int64](
	tx *Tx, keys []K, l Lists[K], offset, size int64, found map[K]*ListPage[ID], args []any,
) error {
	var parts []string
	var rest []K
	for _, k := range keys {
		page := found[k]
		if n := int64(len(page.Rows)); n < size && (n > 0 || offset == 0) {
			page.Total = offset + n
			continue
		}
		parts = append(parts, fmt.Sprintf(`SELECT %d AS list, count(*) `, len(rest))+l.From(k, param(len(args)+1+len(rest))))
		rest = append(rest, k)
	}
	if len(rest) == 0 {
		return nil
	}
	return QueryEach(tx, func(row Scanner) error {
		var n int
		var total int64
		err := row.Scan(&n, &total)
		found[rest[n]].Total = total
		return err
	}, strings.Join(parts, ` UNION ALL `), Args(rest, args...)...)
}

// ListedIDs returns the ids of the rows of lists, each once.
func ListedIDs[K comparable, ID ~int64](found map[K]*ListPage[ID]) []ID {
	var ids []ID
	for _, page := range found {
		for _, r := range page.Rows {
			ids = append(ids, r.ID)
		}
	}
	return Unique(ids)
}

func param(n int) string { return fmt.Sprintf("$%d", n) }

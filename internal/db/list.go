package db

import "context"

// Scanner is a row whose columns Scan copies, as [Rows.Scan] does: the row of a list that is
// being read, or the only row of a [Row].
type Scanner interface {
	Scan(dest ...any) error
}

// QueryList runs a statement that returns rows, and makes a list of what scan reads of each
// one. The list is nil when there are none. scan runs no statement of its own; its error ends
// the reading and is returned.
func QueryList[T any](tx *Tx, scan func(Scanner) (T, error), query string, args ...any) ([]T, error) {
	var list []T
	err := QueryEach(tx, func(row Scanner) error {
		v, err := scan(row)
		if err == nil {
			list = append(list, v)
		}
		return err
	}, query, args...)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// Get is [DB.Read] for a function that returns what it has read.
func Get[T any](ctx context.Context, d *DB, fn func(*Tx) (T, error)) (v T, err error) {
	err = d.Read(ctx, func(tx *Tx) error {
		v, err = fn(tx)
		return err
	})
	return v, err
}

// GetOne is Get by [DB.ReadOne].
func GetOne[T any](ctx context.Context, d *DB, fn func(*Tx) (T, error)) (v T, err error) {
	err = d.ReadOne(ctx, func(tx *Tx) error {
		v, err = fn(tx)
		return err
	})
	return v, err
}

// QueryEach runs a statement that returns rows, and calls each with every one of them: for
// rows that fill a map or several lists. each runs no statement of its own; its error ends
// the reading and is returned.
func QueryEach(tx *Tx, each func(Scanner) error, query string, args ...any) error {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// QueryColumn runs a statement that returns one column, and reads all of it.
func QueryColumn[T any](tx *Tx, query string, args ...any) ([]T, error) {
	return QueryList(tx, func(row Scanner) (v T, err error) {
		err = row.Scan(&v)
		return v, err
	}, query, args...)
}

// QueryIDs runs a statement that returns one column of ids, and reads all of them.
func QueryIDs[ID ~int64](tx *Tx, query string, args ...any) ([]ID, error) {
	return QueryColumn[ID](tx, query, args...)
}

// QueryTexts runs a statement that returns one column of text, and reads all of it.
func QueryTexts(tx *Tx, query string, args ...any) ([]string, error) {
	return QueryColumn[string](tx, query, args...)
}

// QueryMap runs a statement that returns two columns, and reads all rows: the first column
// is the key. Of rows with the same key the last counts.
func QueryMap[K comparable, V any](tx *Tx, query string, args ...any) (map[K]V, error) {
	return QueryMapOf[K](tx, func(value *V) []any { return []any{value} }, query, args...)
}

// QueryMapOf is QueryMap for values of several columns: dest returns where the columns behind the key go.
func QueryMapOf[K comparable, V any](
	tx *Tx, dest func(*V) []any, query string, args ...any,
) (map[K]V, error) {
	found := map[K]V{}
	err := QueryEach(tx, func(row Scanner) error {
		var key K
		var value V
		err := row.Scan(append([]any{&key}, dest(&value)...)...)
		if err == nil {
			found[key] = value
		}
		return err
	}, query, args...)
	return found, err
}

// QueryByID calls read for rows of some ids, and returns them by id. Without ids it runs no query. Ids without a row are missing
// from the map.
func QueryByID[ID comparable, V any](
	ids []ID, idOf func(*V) ID, read func() ([]*V, error),
) (map[ID]*V, error) {
	found := make(map[ID]*V, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	list, err := read()
	for _, v := range list {
		found[idOf(v)] = v
	}
	return found, err
}

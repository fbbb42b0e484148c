package db

// Scanner is a row whose columns Scan copies, as [Rows.Scan] does: the row of a list that is
// being read, or the only row of a [Row].
type Scanner interface {
	Scan(dest ...any) error
}

// QueryList runs a statement that returns rows, and makes a list of what scan reads of each
// one. The list is nil when there are none. scan runs no statement of its own; its error ends
// the reading and is returned.
func QueryList[T any](tx *Tx, scan func(Scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
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

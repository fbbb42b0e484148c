package db

// NextID returns the id for the next row of a table with generated ids, for an INSERT that names the id. On
// SQLite it returns the same id until the row is inserted. Ids grow with the calls that one lock orders; those of
// transactions that failed may be missing.
func (t *Tx) NextID(table string) (id int64, err error) {
	err = t.QueryRow(t.Engine().nextID(table)).Scan(&id)
	return id, err
}

// NextIDs returns the ids for the next n rows of a table, in ascending order, as NextID does.
func (t *Tx) NextIDs(table string, n int) ([]int64, error) {
	if t.Engine() == PostgreSQL {
		return QueryIDs[int64](t, `SELECT nextval('`+table+`_id_seq') FROM generate_series(1, $1)`, n)
	}
	first, err := t.NextID(table)
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = first + int64(i)
	}
	return ids, err
}

func (e Engine) nextID(table string) string {
	if e == PostgreSQL {
		return `SELECT nextval('` + table + `_id_seq')`
	}
	return `SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = '` + table + `'), 0) + 1`
}

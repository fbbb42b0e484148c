package db

// NextID gives the id of the row that is inserted next into a table whose ids the database gives, for an
// INSERT that names the id. PostgreSQL gets what depends on that row in the same trip then. On SQLite the id
// is the next one until the row is there, so a row is inserted before the next call. Ids grow with the calls
// that one lock orders; those of transactions that failed may be missing.
func (t *Tx) NextID(table string) (id int64, err error) {
	err = t.QueryRow(t.Engine().nextID(table)).Scan(&id)
	return id, err
}

// NextIDAhead says that NextID is called behind the next query, see [Tx.Ahead]. After a statement that writes
// it would take another id.
func (t *Tx) NextIDAhead(table string) { t.Ahead(t.Engine().nextID(table)) }

func (e Engine) nextID(table string) string {
	if e == PostgreSQL {
		return `SELECT nextval('` + table + `_id_seq')`
	}
	return `SELECT COALESCE((SELECT seq FROM sqlite_sequence WHERE name = '` + table + `'), 0) + 1`
}

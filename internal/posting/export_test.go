package posting

import "arbor/internal/db"

// Scan runs a query by the executor of one statement, whatever the planner says.
func Scan(tx *db.Tx, q Query, offset, size int64) (Found, error) { return scan(tx, &q, offset, size) }

package audit

import (
	"strings"

	"arbor/internal/db"
)

// MostActions bounds the parts of a query.
const MostActions = mostActions

// Plan is how SQLite runs a list.
func Plan(tx *db.Tx, f Filter) (string, error) {
	text, args := compile(&f, 30)
	rows, err := tx.Query(`EXPLAIN QUERY PLAN `+text, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int64
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return "", err
		}
		plan.WriteString(detail + "\n")
	}
	return plan.String(), rows.Err()
}

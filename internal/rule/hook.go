package rule

import (
	"arbor/internal/db"
)

// tell records the webhook events of a change. before is nil for a new ruleset, after for a deleted one.
func tell(tx *db.Tx, o Owner, before, after *Ruleset) error {
	return nil
}

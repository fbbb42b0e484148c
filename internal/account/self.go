package account

import (
	"context"

	"arbor/internal/db"
)

// ChangeSelf runs a change of the caller's own account in a transaction that holds the account's row. Sessions that the
// change ends may include the caller's, so the caller is checked first. Errors: 401, 403, and those of change.
func ChangeSelf(ctx context.Context, d *db.DB, by *Caller, change func(*db.Tx, *Account) error) error {
	return d.WriteAs(ctx, by, func(tx *db.Tx) error {
		if err := tx.Check(); err != nil {
			return err
		}
		if err := HoldID(tx, by.ID); err != nil {
			return err
		}
		a, err := ByID(tx, by.ID)
		if err != nil {
			return err
		}
		return change(tx, a)
	})
}

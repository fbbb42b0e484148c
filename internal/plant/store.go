package plant

import (
	"context"
	"database/sql"

	"arbor/internal/account"
	"arbor/internal/db"
)

// inserting adds a plant, if the caller's token $5 still holds at the time $6.
func inserting() string {
	return `INSERT INTO plants (id, owner_id, name, tag)
		SELECT CAST($1 AS BIGINT), CAST($2 AS BIGINT), CAST($3 AS TEXT), CAST($4 AS TEXT)
		WHERE ` + account.TokenHolds(`$5`, `$6`) + ` ON CONFLICT (id) DO NOTHING`
}

// insert adds a plant; false when its id is taken, or the caller's token is gone.
func insert(ctx context.Context, d *db.DB, c *account.Caller, p *Plant) (bool, error) {
	var tag any
	if p.Tag != nil {
		tag = *p.Tag
	}
	var n int64
	err := d.WriteAs(ctx, c, func(tx *db.Tx) (err error) {
		n, err = tx.Exec(inserting(), p.ID, c.ID, p.Name, tag, c.TokenID, tx.Now)
		return err
	})
	return n == 1, err
}

// remove deletes a plant of owner's, or of anyone's; false when there is none.
func remove(tx *db.Tx, id int64, owner account.ID, anyone bool) (bool, error) {
	var n int64
	var err error
	if anyone {
		n, err = tx.Exec(`DELETE FROM plants WHERE id = $1`, id)
	} else {
		n, err = tx.Exec(`DELETE FROM plants WHERE id = $1 AND owner_id = $2`, id, owner)
	}
	return n == 1, err
}

// query finds at most rows plants from the cursor's place on, by id.
func query(tx *db.Tx, c *Cursor, rows int64) (*db.Rows, error) {
	if c.all {
		return tx.Query(`SELECT id, name, tag FROM plants WHERE id >= $1 ORDER BY id LIMIT $2`, c.from, rows)
	}
	return tx.Query(`SELECT id, name, tag FROM plants WHERE owner_id = $1 AND id >= $2
		ORDER BY id LIMIT $3`, c.owner, c.from, rows)
}

// row is where the columns of query are scanned to; it is used again for each
// row, so that a long list makes little garbage.
type row struct {
	plant   Plant
	tag     sql.NullString
	columns [3]any
}

func newRow() *row {
	r := &row{}
	r.columns = [...]any{&r.plant.ID, &r.plant.Name, &r.tag}
	return r
}

func (r *row) scan(rows *db.Rows) error {
	if err := rows.Scan(r.columns[:]...); err != nil {
		return err
	}
	r.plant.Tag = nil
	if r.tag.Valid {
		r.plant.Tag = &r.tag.String
	}
	return nil
}

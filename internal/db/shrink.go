package db

import (
	"context"
	"fmt"
)

// shrinkPages is how many pages of SQLite's file go back to the disk in one transaction: others wait some
// milliseconds for it.
const shrinkPages = 128

// Shrink returns some of the free pages of SQLite's file to the disk, unless fewer than keep bytes or less
// than a tenth of the file is free; with keep 0 all can be returned. more reports whether another call can
// return more. A file of an older version has no map of its pages and keeps its size until it is rewritten
// (Scrub); new rows use its free pages first. On PostgreSQL Shrink does nothing, because autovacuum frees
// the space in its tables.
func (d *DB) Shrink(ctx context.Context, keep int64) (more bool, err error) {
	spare, more, err := d.backend.shrink(ctx, keep)
	if err == nil {
		d.spare.Store(spare)
	}
	return more, err
}

// Spare is how many bytes SQLite's file had free inside when Shrink looked last: room for new rows, though
// the disk may have none. 0 on PostgreSQL, whose disks the operator watches.
func (d *DB) Spare() int64 { return d.spare.Load() }

func (b *sqliteBackend) shrink(ctx context.Context, keep int64) (spare int64, more bool, err error) {
	var free, pages, size, mode int64
	look := func(tx *Tx) error {
		return tx.QueryRow(`SELECT f.freelist_count, c.page_count, s.page_size, v.auto_vacuum
			FROM pragma_freelist_count f, pragma_page_count c, pragma_page_size s, pragma_auto_vacuum v`).
			Scan(&free, &pages, &size, &mode)
	}
	goes := func() bool {
		return mode == 2 && free > 0 && (keep == 0 || free*size > max(keep, pages*size/10))
	}
	if err := b.readOne(ctx, look); err != nil || !goes() {
		return free * size, false, err
	}
	err = b.write(ctx, func(tx *Tx) error {
		c, ok := tx.conn.(*sqliteConn)
		if !ok {
			return errTxDone
		}
		if err := c.script(fmt.Sprintf("PRAGMA incremental_vacuum(%d)", shrinkPages)); err != nil {
			return err
		}
		return look(tx)
	})
	return free * size, err == nil && goes(), err
}

func (b *postgresBackend) shrink(context.Context, int64) (spare int64, more bool, err error) {
	return 0, false, nil
}

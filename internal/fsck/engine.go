package fsck

import (
	"context"
	"fmt"

	"arbor/internal/db"
	"arbor/internal/fulltext"
)

// database asks the engine whether its own files and indexes are whole, and whether
// the rows that other rows refer to exist. None of that can be repaired: restore a backup.
func (c *checker) database(ctx context.Context) error {
	if c.DB.Engine() == db.SQLite {
		return c.sqlite(ctx)
	}
	return c.postgres(ctx)
}

func (c *checker) sqlite(ctx context.Context) error {
	return c.DB.ReadLong(ctx, func(tx *db.Tx) error {
		if err := fulltext.Refresh(tx); err != nil {
			return err
		}
		found, err := db.QueryTexts(tx, `PRAGMA integrity_check(1000)`)
		if err != nil {
			return err
		}
		lost, err := db.QueryTexts(tx, `SELECT DISTINCT 'a row of '||"table"||' refers to a row of '||parent||' that is not there'
			FROM pragma_foreign_key_check`)
		if err != nil {
			return err
		}
		for _, text := range append(found, lost...) {
			if text == "ok" {
				continue
			}
			c.find(Finding{Part: "database", Problem: text})
		}
		return nil
	})
}

// postgres reads the checksums' verdict, and each index by amcheck where the operator
// has installed that extension.
func (c *checker) postgres(ctx context.Context) error {
	var amcheck bool
	err := c.DB.Read(ctx, func(tx *db.Tx) error {
		var failures int64
		err := tx.QueryRow(`SELECT COALESCE(checksum_failures, 0), EXISTS (SELECT 1 FROM pg_extension
			WHERE extname = 'amcheck')
			FROM pg_stat_database WHERE datname = current_database()`).Scan(&failures, &amcheck)
		if err == nil && failures > 0 {
			c.find(Finding{Part: "database",
				Problem: fmt.Sprintf("PostgreSQL met %d pages whose checksum is wrong", failures)})
		}
		return err
	})
	if err != nil {
		return err
	}
	if !amcheck {
		c.find(Finding{Part: "database", Warning: true, Problem: "PostgreSQL's indexes were not looked at, " +
			"since its extension amcheck is not installed (CREATE EXTENSION amcheck)"})
		return nil
	}
	indexes, err := db.Get(ctx, c.DB, func(tx *db.Tx) ([]string, error) {
		return db.QueryTexts(tx, `SELECT c.oid::regclass::text FROM pg_index i
			JOIN pg_class c ON c.oid = i.indexrelid
			JOIN pg_am a ON a.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE a.amname = 'btree' AND n.nspname = current_schema() AND i.indisvalid ORDER BY 1`)
	})
	if err != nil {
		return err
	}
	for i, name := range indexes {
		c.Progress("database", int64(i), int64(len(indexes)))
		err := c.DB.ReadLong(ctx, func(tx *db.Tx) error {
			_, err := db.QueryTexts(tx,
				`SELECT COALESCE(CAST(bt_index_check(CAST($1 AS regclass), TRUE) AS TEXT), '')`, name)
			return err
		})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.find(Finding{Part: "database", Problem: fmt.Sprintf("the index %s: %v", name, err)})
		}
	}
	return nil
}

package db_test

import (
	"context"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// A database that was erased is as good as new: nothing is left in any table, and
// ids begin again.
func TestErase(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		o := db.Options{URL: dbtest.URL(t, engine)}
		const tables = `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%_texts%'`
		var first int64
		use := func(fn func(tx *db.Tx) error) {
			t.Helper()
			d, err := db.Open(t.Context(), o)
			testkit.NoError(t, err)
			if err := d.Write(context.Background(), fn); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		fill := func(tx *db.Tx) error {
			if err := tx.Bump("topic"); err != nil {
				return err
			}
			if _, err := tx.Exec(
				`INSERT INTO accounts (login, login_folded, kind, created_at, updated_at) VALUES ('alice', 'alice', 1, 1, 1)`); err != nil {
				return err
			}
			if _, err := tx.Exec(
				`INSERT INTO plants (id, owner_id, name) SELECT 7, id, 'Rowan' FROM accounts`); err != nil {
				return err
			}
			return tx.QueryRow(`SELECT id FROM accounts`).Scan(&first)
		}
		use(fill)
		testkit.NoError(t, db.Erase(t.Context(), o))
		use(func(tx *db.Tx) error {
			query := tables
			if engine == db.PostgreSQL {
				query = `SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema()`
			}
			rows, err := tx.Query(query)
			if err != nil {
				return err
			}
			var names []string
			for rows.Next() {
				var name string
				if err := rows.Scan(&name); err != nil {
					return err
				}
				names = append(names, name)
			}
			if err := rows.Err(); err != nil {
				return err
			}
			if len(names) < 30 {
				t.Errorf("only %d tables: %q", len(names), names)
			}
			for _, name := range names {
				var any bool
				if err := tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM ` + name + `)`).Scan(&any); err != nil {
					return err
				}
				if any != (name == "schema_migrations") {
					t.Errorf("%s holds rows: %v", name, any)
				}
			}
			return nil
		})
		before := first
		use(fill)
		if first != before || first != 1 {
			t.Errorf("the first account has the id %d, before it had %d", first, before)
		}
	})
}

// Each table goes into backups and moves to the other engine, but for these. What a table lacked in a
// backup, nobody would miss before the restore.
func TestTablesAreCopied(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		of := map[string]string{
			"schema_migrations": "each database applies its own", "store_identity": "says which folder is the database's",
			"nodes": "processes that run", "rate_counts": "what these count", "backups": "of this database",
			"texts_changed": "what its full-text indexes lack", "names_changed": "the same",
			"issue_texts": "a full-text index", "comment_texts": "the same", "repo_texts": "the same", "account_texts": "the same",
		}
		query := `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual')
			AND name NOT LIKE 'sqlite_%'`
		if engine == db.PostgreSQL {
			query = `SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = current_schema()`
		}
		err := dbtest.Open(t, engine).Read(t.Context(), func(tx *db.Tx) error {
			copied := map[string]bool{}
			list, err := db.Tables(tx)
			if err != nil {
				return err
			}
			for _, table := range list {
				copied[table.Name] = true
			}
			names, err := db.QueryTexts(tx, query)
			for _, name := range names {
				if _, alone := of[name]; copied[name] == alone {
					t.Errorf("the table %s is copied: %v", name, copied[name])
				}
			}
			if len(names) < 60 {
				t.Errorf("only %d tables: %q", len(names), names)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

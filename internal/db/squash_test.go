package db_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// squashed are the migrations that the schema replaces, as a database records them.
func squashed(t *testing.T) (list []db.Version, names []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/squashed.txt")
	testkit.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		name, checksum, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, err := strconv.ParseInt(name[:4], 10, 64)
		testkit.NoError(t, err)
		list, names = append(list, db.Version{Number: number, Checksum: checksum}), append(names, name[5:])
	}
	return list, names
}

// A database that has all squashed migrations is taken over as it is. An older one, or one that lacks some
// of them, is refused as it is, with the way to go. Without this an operator would lose the store of an
// older build.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	versions, names := squashed(t)
	last := len(versions) - 1
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.URL(t, engine)
		records := func(tx *db.Tx, skipped int) error {
			err := undoLater(t, tx)
			if err == nil {
				err = tx.Run(`DELETE FROM schema_migrations`)
			}
			for n, v := range versions {
				if err == nil && n != skipped {
					err = tx.Run(`INSERT INTO schema_migrations (version, name, checksum, applied_at)
						VALUES ($1, $2, $3, 1)`, v.Number, names[n], v.Checksum)
				}
			}
			return err
		}
		mustOpen := func(fn func(tx *db.Tx) error) {
			t.Helper()
			d, err := db.Open(t.Context(), db.Options{URL: address})
			testkit.NoError(t, err)
			if err := d.Write(t.Context(), fn); err != nil {
				t.Error(err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		}
		mustOpen(func(tx *db.Tx) error {
			if err := tx.Run(`INSERT INTO accounts (login, login_folded, kind, created_at, updated_at)
				VALUES ('alice', 'alice', 1, 1, 1)`); err != nil {
				return err
			}
			return records(tx, -1)
		})
		known, err := db.Known()
		testkit.NoError(t, err)
		for range 2 {
			mustOpen(func(tx *db.Tx) error {
				list, err := db.Versions(tx)
				if err != nil || len(list) != len(known) || list[0] != known[0] {
					t.Errorf("taken over: %v, want %v: %v", list, known, err)
				}
				var n int
				if err := tx.QueryRow(`SELECT count(*) FROM accounts`).Scan(&n); err != nil || n != 1 {
					t.Errorf("%d accounts: %v", n, err)
				}
				return err
			})
		}
		for skipped, want := range map[int]string{last: "the last is 0086", 7: "the last is 0087"} {
			address = dbtest.URL(t, engine)
			mustOpen(func(tx *db.Tx) error { return records(tx, skipped) })
			for range 2 {
				_, err := db.Open(t.Context(), db.Options{URL: address})
				for _, want := range []string{"63 migrations", want, "last build that has migration 0087_one_finder"} {
					if err == nil || !strings.Contains(err.Error(), want) {
						t.Errorf("without %s: %v, want %q", names[skipped], err, want)
					}
				}
			}
		}
	})
}

// made finds what a migration makes.
var made = regexp.MustCompile(`(?m)^(?:CREATE TABLE (\w+)|ALTER TABLE (\w+) ADD COLUMN (\w+)|CREATE (?:UNIQUE )?INDEX (\w+))`)

// undoLater removes what the migrations after the schema made.
func undoLater(t *testing.T, tx *db.Tx) error {
	files, err := filepath.Glob("migrations/*.sql")
	testkit.NoError(t, err)
	if err := oldView(t, tx); err != nil {
		return err
	}
	for _, name := range slices.Backward(files) {
		text, err := os.ReadFile(name)
		testkit.NoError(t, err)
		for _, m := range slices.Backward(made.FindAllStringSubmatch(string(text), -1)) {
			switch {
			case m[1] != "":
				err = tx.Run(`DROP TABLE ` + m[1])
			case m[4] != "":
				err = tx.Run(`DROP INDEX ` + m[4])
			default:
				err = tx.Run(`ALTER TABLE ` + m[2] + ` DROP COLUMN ` + m[3])
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// view is the one view, which later migrations replace.
var view = regexp.MustCompile(`(?s)CREATE VIEW withdrawn_forks AS .*?;`)

// oldView makes the view as the schema has it.
func oldView(t *testing.T, tx *db.Tx) error {
	t.Helper()
	folder := map[db.Engine]string{db.SQLite: "sqlite", db.PostgreSQL: "postgres"}[tx.Engine()]
	text, err := os.ReadFile(filepath.Join("migrations", "0088_schema.alone", folder, "02_repositories.sql"))
	testkit.NoError(t, err)
	if err := tx.Run(`DROP VIEW withdrawn_forks`); err != nil {
		return err
	}
	return tx.Run(strings.TrimSuffix(string(view.Find(text)), ";"))
}

// A backup fits if its database had the same migrations, or all that the schema replaces if there are no others.
func TestCheckBackup(t *testing.T) {
	t.Parallel()
	versions, _ := squashed(t)
	known, err := db.Known()
	testkit.NoError(t, err)
	replaced := ""
	if len(known) > 1 {
		replaced = "another version"
	}
	for name, c := range map[string]struct {
		list []db.Version
		want string
	}{
		"the same":   {known, ""},
		"squashed":   {versions, replaced},
		"older":      {versions[:len(versions)-1], "too old"},
		"incomplete": {versions[1:], "too old"},
		"newer":      {append(known[:len(known):len(known)], db.Version{Number: 9999}), "another version"},
		"none":       {nil, "another version"},
	} {
		switch err := db.CheckBackup(c.list); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// The schema is written once for each engine. Both texts make the same tables, columns and indexes: else a
// backup of one engine would not fit into the other.
func TestSchemaOfBothEngines(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	schemas := map[db.Engine]string{}
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		query := `SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`
		if engine == db.PostgreSQL {
			query = `SELECT CAST(indexname AS TEXT) FROM pg_indexes WHERE schemaname = current_schema()
				AND indexname NOT LIKE '%_pkey' AND indexname NOT LIKE '%_key' AND indexname NOT LIKE '%texts_words'
				ORDER BY CAST(indexname AS TEXT) COLLATE "C"`
		}
		err := dbtest.Open(t, engine).Read(t.Context(), func(tx *db.Tx) error {
			tables, err := db.Tables(tx)
			if err != nil {
				return err
			}
			indexes, err := db.QueryTexts(tx, query)
			mu.Lock()
			defer mu.Unlock()
			schemas[engine] = fmt.Sprintf("%+v\n%v", tables, indexes)
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		lite, postgres := schemas[db.SQLite], schemas[db.PostgreSQL]
		if lite != "" && postgres != "" && lite != postgres {
			t.Errorf("the engines have different schemas:\n%s\n%s", lite, postgres)
		}
	})
}

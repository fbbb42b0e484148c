package db_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// A store of each earlier version, with rows of each age in each table, is brought up to
// date and loses none of them. Its schema is then that of a new store. If this failed, an
// operator would lose data by installing a new version.
func TestUpgradeFromEachVersion(t *testing.T) {
	t.Parallel()
	versions, known := migrationFiles(t)
	rows := rowsOf(t, versions, known)
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		fresh := schemaOf(t, dbtest.OpenURL(t, dbtest.URL(t, engine)))
		address := dbtest.Empty(t, engine)
		for i, version := range versions[:len(versions)-1] {
			var before map[string]map[string]bool
			migrated(t, address, known, version, func(d *db.DB) {
				fill(t, d, rows[version])
				before = contents(t, d)
			})
			copied := copyOf(t, engine, address)
			migrated(t, copied, known, versions[len(versions)-1], func(d *db.DB) {
				lost(t, versions[i], before, contents(t, d))
				now := schemaOf(t, d)
				for _, line := range append(without(now, fresh), without(fresh, now)...) {
					t.Errorf("from %s: only one of this store and a new one has %s", version, line)
				}
				if engine == db.SQLite {
					checkIntegrity(t, d)
				}
			})
		}
	})
}

// migrationFiles gives the names of all migrations, in order, and their texts.
func migrationFiles(t *testing.T) (names []string, known map[string]string) {
	t.Helper()
	known = map[string]string{}
	list, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		known[filepath.Base(path)] = string(text)
	}
	return slices.Sorted(maps.Keys(known)), known
}

// migrated opens a database with the migrations up to a version.
func migrated(t *testing.T, address string, known map[string]string, last string, fn func(*db.DB)) {
	t.Helper()
	m := fstest.MapFS{}
	for name, text := range known {
		if name <= last {
			m[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	if err := reopen(t, address, m, fn); err != nil {
		t.Fatalf("up to %s: %v", last, err)
	}
}

func copyOf(t *testing.T, engine db.Engine, address string) string {
	t.Helper()
	if engine == db.PostgreSQL {
		dbtest.Deserted(t, address)
		return dbtest.Copy(t, address)
	}
	text, err := os.ReadFile(address)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "arbor.db")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func fill(t *testing.T, d *db.DB, statements []string) {
	t.Helper()
	err := d.Write(context.Background(), func(tx *db.Tx) error {
		for _, s := range statements {
			bytes := map[db.Engine]string{db.SQLite: "BLOB", db.PostgreSQL: "BYTEA"}[d.Engine()]
			if _, err := tx.Exec(strings.ReplaceAll(s, "{{bytes}}", bytes)); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// column is a column of a table that rows are made for.
type column struct{ name, kind string }

// rowsOf makes, for each version, a statement for each table that adds a row with a value in
// each column. SQLite's schema says what there is; the text suits both engines.
func rowsOf(t *testing.T, versions []string, known map[string]string) map[string][]string {
	t.Helper()
	address := dbtest.Empty(t, db.SQLite)
	rows := map[string][]string{}
	for i, version := range versions {
		migrated(t, address, known, version, func(d *db.DB) {
			tables := tablesOf(t, d)
			for _, name := range parentsFirst(t, d, tables) {
				rows[version] = append(rows[version], row(name, tables[name], int64(i)))
			}
			fill(t, d, rows[version])
			for name := range tables { // PostgreSQL's constraints are the same
				if number(t, d, `SELECT count(*) FROM `+name) == 0 {
					t.Errorf("%s: there is no row in %s", version, name)
				}
			}
		})
	}
	return rows
}

// bookkept are tables that migrations and the engine keep themselves.
var bookkept = []string{"schema_migrations", "generations", "nodes"}

func tablesOf(t *testing.T, d *db.DB) map[string][]column {
	t.Helper()
	tables := map[string][]column{}
	eachText(t, d, `SELECT t.name, c.name, c.type FROM pragma_table_list t, pragma_table_info(t.name) c
		WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite%' ORDER BY t.name, c.cid`,
		func(r []string) {
			if !slices.Contains(bookkept, r[0]) {
				tables[r[0]] = append(tables[r[0]], column{r[1], r[2]})
			}
		}, 3)
	return tables
}

// parentsFirst orders tables so that each comes behind those that it refers to.
func parentsFirst(t *testing.T, d *db.DB, tables map[string][]column) (order []string) {
	t.Helper()
	parents := map[string][]string{}
	eachText(t, d, `SELECT t.name, f."table" FROM pragma_table_list t, pragma_foreign_key_list(t.name) f
		WHERE t.type = 'table'`,
		func(r []string) { parents[r[0]] = append(parents[r[0]], r[1]) }, 2)
	var add func(name string)
	add = func(name string) {
		if slices.Contains(order, name) {
			return
		}
		for _, parent := range parents[name] {
			if parent != name {
				add(parent)
			}
		}
		order = append(order, name)
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		add(name)
	}
	return order
}

// row is a statement for a row of a table: the n-th. All ids of one n are the same number, so
// that each row refers to one that is there.
func row(table string, columns []column, n int64) string {
	var names, values []string
	for _, c := range columns {
		names = append(names, c.name)
		values = append(values, valueOf(table, c, n))
	}
	return `INSERT INTO ` + table + ` (` + strings.Join(names,
		", ") + `) VALUES (` + strings.Join(values, ", ") +
		`) ON CONFLICT DO NOTHING`
}

// rowID is above what sequences give.
func rowID(n int64) string { return strconv.FormatInt(1_000_000+n, 10) }

func valueOf(table string, c column, n int64) string {
	switch {
	case table == "ssh_keys" && (n%2 == 0 && c.name == "repo_id" || n%2 == 1 && c.name == "account_id"):
		return "NULL" // a key belongs to one of them
	case c.name == "added_by" || c.name == "resolved_by" ||
		table == "resolved_threads" && c.name == "root_id":
		return rowID(n)
	case c.name == "id" && slices.Contains([]string{"folder_sweep", "activity_pruning", "audit_pruning",
		"store_identity"}, table):
		return "1" // their only row
	case c.name == "parent_id" || c.name == "root_id": // of a fork: the one before, if there is one
		return fmt.Sprintf("(SELECT MAX(id) FROM repos WHERE id < %s)", rowID(n))
	case c.name == "head_repo_id": // of a pull request: a repository that may be of another network
		return "(SELECT MIN(id) FROM repos)"
	case table == "activities" && c.name == "kind":
		return strconv.FormatInt(1+n%12, 10) // 5 shows a repository to everybody
	case table == "activities" && c.name == "repo_id": // with several of them
		return "(SELECT MIN(id) FROM repos)"
	case c.name == "sha" || strings.HasSuffix(c.name, "_sha") || c.name == "tested_base" ||
		c.name == "tested_head" || c.name == "peeled":
		return fmt.Sprintf("'%040x'", 1_000_000+n)
	case c.name == "labels" || c.name == "assignees":
		return "'" + rowID(n) + "'"
	case c.name == "due_at" || c.name == "tries":
		return "0"
	case strings.HasSuffix(c.name, "_id") || c.name == "id" || c.name == "number":
		return rowID(n)
	}
	switch strings.ToUpper(c.kind) {
	case "BOOLEAN":
		return []string{"TRUE", "FALSE"}[n%2]
	case "SMALLINT":
		return strconv.FormatInt(1+n%2, 10)
	case "INTEGER", "BIGINT":
		return strconv.FormatInt(1_700_000_000_000_000+n, 10)
	case "BLOB":
		return fmt.Sprintf("CAST('%s %s %d' AS {{bytes}})", table, c.name, n)
	}
	return fmt.Sprintf("'%s %s %d'", table, c.name, n)
}

// eachText reads rows as texts.
func eachText(t *testing.T, d *db.DB, query string, fn func(row []string), columns int) {
	t.Helper()
	err := d.Read(context.Background(), func(tx *db.Tx) error {
		rows, err := tx.Query(query)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			row, into := make([]string, columns), make([]any, columns)
			for i := range row {
				into[i] = &row[i]
			}
			if err := rows.Scan(into...); err != nil {
				return err
			}
			fn(row)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// changed are columns whose values a migration changes, with what it does.
var changed = map[string]string{
	"issues.changed":             "0087: nothing reads it",
	"repos.legend_generation":    "0087: nothing reads it",
	"departed_issues.generation": "0087: nothing reads it",
	"activities.public":          "0030 hides what happened before the repository was shown to everybody",
	"pulls.head_repo_id":         "0024 detaches pull requests whose head may not be seen",
}

// contents gives the rows of each table, each as its columns by name.
func contents(t *testing.T, d *db.DB) map[string]map[string]bool {
	t.Helper()
	var tables []db.Table
	err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		tables, err = db.Tables(tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[string]bool{}
	for _, table := range tables {
		keys, values := []string{"''"}, []string{}
		for _, c := range table.Columns {
			if c.Key > 0 {
				keys = append(keys, "CAST("+c.Name+" AS TEXT)")
			}
			values = append(values, "COALESCE(CAST("+c.Name+" AS TEXT), 'NULL')")
			all[table.Name+"."+c.Name] = map[string]bool{}
		}
		eachText(t, d, `SELECT `+strings.Join(keys, `||' '||`)+`, `+strings.Join(values,
			`, `)+` FROM `+table.Name,
			func(r []string) {
				for i, c := range table.Columns {
					all[table.Name+"."+c.Name][r[0]+": "+r[i+1]] = true
				}
			}, 1+len(values))
	}
	for name := range changed {
		delete(all, name)
	}
	return all
}

// lost tells of values that were there before and are not now.
func lost(t *testing.T, version string, before, now map[string]map[string]bool) {
	t.Helper()
	for name, rows := range before {
		for value := range rows {
			if !now[name][value] {
				t.Errorf("from %s: %s of the row %s is gone", version, name, value)
			}
		}
	}
	if len(before) == 0 {
		t.Errorf("from %s: nothing was compared", version)
	}
}

func schemaOf(t *testing.T, d *db.DB) []string {
	t.Helper()
	query := `SELECT type||' '||name||' on '||tbl_name||': '||COALESCE(sql, '') FROM sqlite_schema`
	if d.Engine() == db.PostgreSQL {
		query = `SELECT c.table_name||'.'||c.column_name||' '||c.data_type||' '||c.is_nullable||' '||COALESCE(c.column_default, '')
				FROM information_schema.columns c WHERE c.table_schema = current_schema()
			UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = current_schema()
			UNION ALL SELECT CAST(conrelid AS REGCLASS)||' '||pg_get_constraintdef(oid) FROM pg_constraint
				WHERE connamespace = CAST(current_schema() AS REGNAMESPACE)
			UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
			UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc
				WHERE pronamespace = CAST(current_schema() AS REGNAMESPACE)
			UNION ALL SELECT viewname||' '||definition FROM pg_views WHERE schemaname = current_schema()`
	}
	var lines []string
	eachText(t, d, query, func(r []string) { lines = append(lines, r[0]) }, 1)
	if len(lines) == 0 {
		t.Error("there is no schema")
	}
	return lines
}

// without gives the lines that another list does not have.
func without(lines, other []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return slices.Contains(other, l) })
}

func checkIntegrity(t *testing.T, d *db.DB) {
	t.Helper()
	eachText(t, d, `PRAGMA integrity_check`, func(r []string) {
		if r[0] != "ok" {
			t.Errorf("integrity: %s", r[0])
		}
	}, 1)
}

package db_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{"README.md": {Data: []byte("not a migration")}}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

func reopen(t *testing.T, address string, m fstest.MapFS, check func(*db.DB)) error {
	t.Helper()
	d, err := db.OpenWith(context.Background(), db.Options{URL: address}, m)
	if err != nil {
		return err
	}
	if check != nil {
		check(d)
	}
	return d.Close()
}

// Upgrading keeps data; what this program does not understand it refuses
// before it does harm.
func TestMigrations(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		one := []string{"0001_a.sql",
			`CREATE TABLE a (id {{id}}, s {{text}}); INSERT INTO a (s) VALUES ('semi;colon');`}
		two := append(one[:2:2], "0002_b.sql", `CREATE TABLE b (id {{key}}, v {{bytes}}); -- the end
			ALTER TABLE a ADD COLUMN n BIGINT NOT NULL DEFAULT 7;`)
		testkit.NoError(t, reopen(t, address, files(one...), nil))
		for range 2 {
			err := reopen(t, address, files(two...), func(d *db.DB) {
				if n := number(t, d, `SELECT n FROM a WHERE s = 'semi;colon'`); n != 7 {
					t.Errorf("the old row has %d", n)
				}
				if n := number(t, d, `SELECT count(*) FROM schema_migrations WHERE applied_at > 0`); n != 2 {
					t.Errorf("%d migrations are recorded", n)
				}
			})
			testkit.NoError(t, err)
		}
		for name, c := range map[string]struct {
			files fstest.MapFS
			want  []string
		}{
			"newer":   {files(one...), []string{"version 2", "up to 1"}},
			"changed": {files("0001_a.sql", one[1]+" ", "0002_b.sql", two[3]), []string{"0001_a", "changed"}},
			"gone":    {files("0001_a.sql", one[1], "0003_c.sql", ""), []string{"0002_b", "does not know"}},
			"older":   {files("0003_c.sql", ""), []string{"too old", "2 migrations, the last is 0002"}},
			"named":   {files("x_a.sql", ""), []string{"NNNN_name"}},
			"twice":   {files("0001_a.sql", "", "0001_b.sql", ""), []string{"0001"}},
		} {
			err := reopen(t, address, c.files, nil)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v, want %q", name, err, want)
				}
			}
		}
	})
}

// A migration that fails leaves nothing of itself, and everything before it.
func TestMigrationThatFails(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		const a = `CREATE TABLE a (id {{id}});`
		for _, bad := range []string{
			`CREATE TABLE b (id {{id}}); INSERT INTO nowhere VALUES (1);`,
			`CREATE TABLE b (id {{id}}, x {{nonsense}});`,
			`CREATE TABLE b (id {{id}}, a_id BIGINT REFERENCES a (id)); INSERT INTO b (a_id) VALUES (1);`,
		} {
			if err := reopen(t, address, files("0001_a.sql", a, "0002_b.sql", bad), nil); err == nil {
				t.Fatalf("%s: no error", bad)
			}
		}
		err := reopen(t, address, files("0001_a.sql", a, "0002_b.sql", `CREATE TABLE b (id {{id}});`),
			func(d *db.DB) {
				if n := number(t, d, `SELECT (SELECT count(*) FROM a) + (SELECT count(*) FROM b)`); n != 0 {
					t.Error(n)
				}
			})
		if err != nil {
			t.Error(err)
		}
	})
}

// A table is rebuilt on SQLite by dropping the old one, which must not take
// the rows along that refer to it.
func TestMigrationRebuildsATable(t *testing.T) {
	t.Parallel()
	address := dbtest.Empty(t, db.SQLite)
	const a = `CREATE TABLE a (id {{id}}); CREATE TABLE b (a_id BIGINT REFERENCES a (id) ON DELETE CASCADE);
		INSERT INTO a (id) VALUES (1); INSERT INTO b (a_id) VALUES (1);`
	const rebuild = `CREATE TABLE new_a (id {{id}}, n BIGINT); INSERT INTO new_a (id) SELECT id FROM a;
		DROP TABLE a; ALTER TABLE new_a RENAME TO a;`
	err := reopen(t, address, files("0001_a.sql", a), nil)
	err = errors.Join(err, reopen(t, address, files("0001_a.sql", a, "0002_b.sql", rebuild), func(d *db.DB) {
		if n := number(t, d, `SELECT count(*) FROM a JOIN b ON b.a_id = a.id`); n != 1 {
			t.Errorf("%d rows are left", n)
		}
	}))
	if err != nil {
		t.Error(err)
	}
}

// The schema is a folder of files for each engine: each runs its own, in the order of their names, and both
// have one checksum. Later migrations follow it.
func TestMigrationInFolders(t *testing.T) {
	t.Parallel()
	m := files(
		"0007_schema/sqlite/01_a.sql", "CREATE TABLE a (who TEXT);",
		"0007_schema/sqlite/02_b.sql", "INSERT INTO a VALUES ('sqlite');",
		"0007_schema/postgres/01_a.sql", "CREATE TABLE a (who TEXT COLLATE \"C\");",
		"0007_schema/postgres/02_b.sql", "INSERT INTO a VALUES ('postgres');",
		"0008_b.sql", "ALTER TABLE a ADD COLUMN n BIGINT NOT NULL DEFAULT 3;")
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		for range 2 {
			err := reopen(t, address, m, func(d *db.DB) {
				if n := number(t, d, `SELECT SUM(n) FROM a WHERE who = $1`, engine.String()); n != 3 {
					t.Errorf("the schema and the next migration left %d", n)
				}
				if n := number(t, d, `SELECT SUM(version) FROM schema_migrations`); n != 7+8 {
					t.Errorf("the versions add up to %d", n)
				}
			})
			testkit.NoError(t, err)
		}
		m := maps.Clone(m)
		m["0007_schema/postgres/02_b.sql"] = &fstest.MapFile{Data: []byte("")}
		if err := reopen(t, address, m, nil); err == nil || !strings.Contains(err.Error(), "changed") {
			t.Errorf("a changed file: %v", err)
		}
	})
}

// A migration says in one file what each engine is told in its own words, so
// that the two cannot drift apart in two files.
func TestMigrationForOneEngine(t *testing.T) {
	t.Parallel()
	const mixed = "CREATE TABLE a (who {{text}});\n" +
		"-- sqlite\nPRAGMA user_version = 5;\nINSERT INTO a VALUES ('sqlite');\n" +
		"  -- postgres\nCREATE SEQUENCE s;\nINSERT INTO a VALUES ('postgres');\n" +
		"-- both\nINSERT INTO a VALUES ('both');\n-- sqlite is named here, and nothing ends\nINSERT INTO a VALUES ('end');\n"
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		err := reopen(t, dbtest.Empty(t, engine), files("0001_a.sql", mixed), func(d *db.DB) {
			if n := number(t, d, `SELECT count(*) FROM a WHERE who IN ($1, 'both', 'end')`,
				engine.String()); n != 3 {
				t.Errorf("%d of 3 rows", n)
			}
			if n := number(t, d, `SELECT count(*) FROM a`); n != 3 {
				t.Errorf("%d rows: the other engine's lines ran too", n)
			}
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// Nothing looks through all rows when a store is opened that is up to date: that took a second for
// each gigabyte, in which nobody wrote. So damage, which arbor check finds, keeps no store closed.
func TestOpeningLooksThroughNothing(t *testing.T) {
	t.Parallel()
	address := dbtest.URL(t, db.SQLite)
	d := dbtest.OpenURL(t, address)
	testkit.NoError(t, d.Orphan(`INSERT INTO silences (user_id, repo_id, created_at) VALUES (1, 1, 1)`))
	again, err := db.Open(t.Context(), db.Options{URL: address})
	testkit.NoError(t, err)
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// The migrations of this program work on both engines.
func TestEmbeddedMigrations(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address := dbtest.Empty(t, engine)
		for range 2 {
			d := dbtest.OpenURL(t, address)
			if d.Engine() != engine {
				t.Errorf("engine %v", d.Engine())
			}
		}
		if n := number(t, dbtest.Open(t, engine), `SELECT count(*) FROM schema_migrations`); n == 0 {
			t.Error("a fresh test database has no tables")
		}
	})
}

// narrows are statements with which nodes of the version before cannot go on.
var narrows = regexp.MustCompile(`(?i)\b(DROP\s+(TABLE|COLUMN)|RENAME|ALTER\s+COLUMN|ADD\s+CONSTRAINT)\b`)

// required is a new column of an old table that an older program's INSERT would have to fill.
var required = regexp.MustCompile(`(?i)ADD\s+COLUMN[^;]*\bNOT\s+NULL\b[^;]*;`)

// During an upgrade old nodes and new ones work on one database, so migrations only add to the schema.
func TestMigrationsOnlyAdd(t *testing.T) {
	files, err := fs.Glob(db.Migrations, "*.sql")
	testkit.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, ".alone.sql") {
			continue
		}
		text, err := fs.ReadFile(db.Migrations, name)
		testkit.NoError(t, err)
		for _, complaint := range narrowing(string(text)) {
			t.Errorf("%s: %s; older nodes could not go on (see docs/nodes.md): add, or name it *.alone.sql",
				name, complaint)
		}
	}
	for text, want := range map[string]int{
		"ALTER TABLE a DROP COLUMN b;":                              1,
		"ALTER TABLE a RENAME TO b;":                                1,
		"ALTER TABLE a ADD COLUMN b BIGINT NOT NULL;":               1,
		"ALTER TABLE a ADD COLUMN b BIGINT NOT NULL DEFAULT 0;":     0,
		"-- nothing is to DROP TABLE here\nCREATE TABLE a (b INT);": 0,
	} {
		if got := narrowing(text); len(got) != want {
			t.Errorf("%q: %q, want %d complaints", text, got, want)
		}
	}
}

func narrowing(text string) (complaints []string) {
	text = regexp.MustCompile(`--[^\n]*`).ReplaceAllString(text, "")
	complaints = narrows.FindAllString(text, -1)
	for _, column := range required.FindAllString(text, -1) {
		if !strings.Contains(strings.ToUpper(column), "DEFAULT") {
			complaints = append(complaints, column)
		}
	}
	return complaints
}

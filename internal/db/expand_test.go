package db_test

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

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

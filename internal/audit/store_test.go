package audit

import (
	"errors"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// planOf is how SQLite runs a list.
func planOf(tx *db.Tx, f Filter) (string, error) {
	text, args := compile(&f, 30)
	rows, err := tx.Query(`EXPLAIN QUERY PLAN `+text, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int64
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			return "", err
		}
		plan.WriteString(detail + "\n")
	}
	return plan.String(), rows.Err()
}

// Each page is found in an index and costs what it shows, whatever the filter.
func TestListsUseIndexes(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t, db.SQLite)
	dbtest.MustWrite(t, d, func(tx *db.Tx) (err error) {
		for i := range 8 {
			err = errors.Join(err, Record(tx, Entry{Action: []Action{RepoAccess, UserSuspend}[i%2],
				Org: Named{ID: 7, Name: "guild"}, Repo: Named{ID: 1, Name: []string{"a/x", "a/y"}[i/4]}}))
		}
		return err
	})
	for _, org := range []int64{0, 7} {
		for _, f := range []Filter{{}, {Actor: "ann"}, {Repo: "a/x"}, {Actions: []Action{RepoAccess}},
			{Actions: ActionsOf("repo")}, {From: 1, Until: 1 << 60}, {After: Cursor{CreatedAt: 5, ID: 1}}} {
			f.OrgID = org
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				plan, err := planOf(tx, f)
				lines := strings.Split(plan, "\n")
				for i, line := range lines { // what merges walks sorts a page of each
					if line == "SCAN audit" || i > 0 && strings.Contains(lines[i-1], "audit") &&
						strings.Contains(line, "TEMP B-TREE") {
						t.Errorf("%+v:\n%s", f, plan)
						break
					}
				}
				if !strings.Contains(plan, "INDEX") {
					t.Errorf("%+v:\n%s", f, plan)
				}
				return err
			})
			testkit.NoError(t, err)
		}
	}
}

func FuzzPhrase(f *testing.F) {
	for _, text := range []string{"action:repo actor:a repo:a/b created:2026-01-01..*",
		"created:>=2026-01-01T00:00:00Z", `a:"b"`} {
		f.Add(text, Cursor{CreatedAt: 5, ID: 6}.String())
	}
	f.Fuzz(func(t *testing.T, phrase, cursor string) {
		var filter Filter
		if filter.Parse(phrase) == nil && (filter.From < 0 || filter.Until < 0 ||
			len(filter.Actions) > mostActions) {
			t.Errorf("%q gives %+v", phrase, filter)
		}
		if c, ok := ParseCursor(cursor); ok && c.String() != cursor && cursor != "" {
			t.Errorf("the cursor %q became %q", cursor, c)
		}
	})
}

package forge

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// names are the columns that name an account by what they are called, also where no foreign
// key says so.
var names = regexp.MustCompile(
	`^(.*_)?(account|user|owner|author|creator|actor|target|org|admin)_id$|_by$|^assignees$`)

// otherwise lists columns with similar names or references to accounts that a deletion does not affect.
var otherwise = []string{
	"withdrawn_forks.owner_id", // a view
	"names_changed.account_id", // the index of names follows the deletion
	"account_texts.id",         // that index, whose rows go with those of the accounts
}

// A new column that names an account needs a line that says what becomes of it when the
// account is deleted: else rows are left that name nobody, or the deletion fails.
func TestEachColumnHasAFate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		d := dbtest.Open(t, engine)
		keys := `SELECT m.name, f."from" FROM sqlite_master m, pragma_foreign_key_list(m.name) f
			WHERE m.type = 'table' AND f."table" = 'accounts'`
		all := `SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table'`
		if engine == db.PostgreSQL {
			keys = `SELECT CAST(c.conrelid AS regclass)::text, a.attname::text FROM pg_constraint c
				JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
				WHERE c.contype = 'f' AND c.confrelid = CAST('accounts' AS regclass)`
			all = `SELECT table_name::text, column_name::text FROM information_schema.columns
				WHERE table_schema = current_schema()`
		}
		fates := map[string]bool{}
		for _, c := range AccountColumns {
			fates[c.Table+"."+c.Column] = true
		}
		read := func(query string) (list []string) {
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				list = nil
				rows, err := tx.Query(query)
				if err != nil {
					return err
				}
				defer rows.Close()
				for rows.Next() {
					var table, column string
					if err := rows.Scan(&table, &column); err != nil {
						return err
					}
					list = append(list, table+"."+column)
				}
				return rows.Err()
			})
			testkit.NoError(t, err)
			return list
		}
		found := read(keys)
		if len(found) < 25 {
			t.Fatalf("only %d foreign keys: %q", len(found), found)
		}
		columns := read(all)
		for _, c := range columns {
			_, column, _ := strings.Cut(c, ".")
			if names.MatchString(column) {
				found = append(found, c)
			}
		}
		for _, c := range found {
			if !fates[c] && !slices.Contains(otherwise, c) {
				t.Errorf("AccountColumns do not say what becomes of %s when its account is deleted", c)
			}
		}
		for c := range fates {
			if !slices.Contains(columns, c) {
				t.Errorf("AccountColumns speak of %s, which is not there", c)
			}
		}
	})
}

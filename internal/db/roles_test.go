package db_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// before returns the migrations up to a number, without it.
func before(t *testing.T, number string) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	testkit.NoError(t, fs.WalkDir(db.Migrations, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path >= number {
			return err
		}
		text, err := fs.ReadFile(db.Migrations, path)
		m[path] = &fstest.MapFile{Data: text}
		return err
	}))
	return m
}

// A store from when there were three roles keeps what each of them may do: were the numbers left, everybody who
// could push could only sort issues, and administrators could no longer change anything. A backup of that time
// is for the version that made it.
func TestThreeRolesBecomeFive(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		address, old := dbtest.Empty(t, engine), before(t, "0100")
		var versions []db.Version
		testkit.NoError(t, reopen(t, address, old, func(d *db.DB) {
			dbtest.MustWrite(t, d, func(tx *db.Tx) error {
				for n := range 4 { // an organization and a repository for each number of before
					err := tx.Run(`INSERT INTO accounts (id, login, login_folded, kind, default_role, created_at,
						updated_at) VALUES ($1, $2, $2, 2, $3, 1, 1)`, n+1, "guild"+string(rune('0'+n)), n)
					if err == nil {
						err = tx.Run(`INSERT INTO repos (id, owner_id, name, name_folded, private,
							default_branch, created_at, updated_at, pushed_at)
							VALUES ($1, $1, 'a', 'a', FALSE, 'main', 1, 1, 1)`, n+1)
					}
					if err == nil {
						err = tx.Run(`INSERT INTO collaborators (repo_id, user_id, role, created_at)
							VALUES ($1, 1, $2, 1)`, n+1, n)
					}
					if err != nil {
						return err
					}
				}
				var err error
				versions, err = db.Versions(tx)
				return err
			})
		}))
		for range 2 { // once, although it is opened twice
			d := dbtest.OpenURL(t, address)
			for n, want := range []int64{0, 1, 3, 5} {
				if got := number(t, d, `SELECT role FROM collaborators WHERE repo_id = $1`,
					n+1); got != want {
					t.Errorf("a collaborator's role %d became %d, want %d", n, got, want)
				}
				if got := number(t, d, `SELECT default_role FROM accounts WHERE id = $1`, n+1); got != want {
					t.Errorf("an organization's default %d became %d, want %d", n, got, want)
				}
			}
		}
		if err := db.CheckBackup(versions); err == nil || !strings.Contains(err.Error(),
			"Restore it with the version that made it") {
			t.Errorf("a backup of before: %v", err)
		}
	})
}

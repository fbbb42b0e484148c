package fsck

import (
	"testing"

	"arbor/internal/db"
	"arbor/internal/fulltext"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A connection that searched before others wrote finds the index of words whole: what it
// remembers of that index is from before.
func TestIndexThatChangedSinceASearchIsSound(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	for n := range 100 {
		if n%50 == 1 {
			err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
				_, err := db.QueryTexts(tx,
					`SELECT CAST(rowid AS TEXT) FROM issue_texts WHERE issue_texts MATCH 'word'`)
				return err
			})
			testkit.NoError(t, err)
		}
		err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
			return fulltext.Put(tx, []fulltext.Text{{Issue: int64(n + 1), Repo: 1, Title: "a word"}})
		})
		testkit.NoError(t, err)
	}
	for _, f := range look(t, s, Options{}).Findings {
		if f.Part == "database" {
			t.Error(f.Problem)
		}
	}
}

package tables_test

import (
	"bytes"
	"errors"
	"testing"

	"arbor/internal/backup/tables"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

func written(t testing.TB, d *db.DB) []byte {
	t.Helper()
	var b bytes.Buffer
	err := d.ReadLong(t.Context(), func(tx *db.Tx) error {
		b.Reset()
		_, err := tables.Write(tx, &b)
		return err
	})
	testkit.NoError(t, err)
	return b.Bytes()
}

func load(t testing.TB, url string, stream []byte) error {
	t.Helper()
	r, err := tables.NewReader(bytes.NewReader(stream))
	if err != nil {
		return err
	}
	return db.Load(t.Context(), db.Options{URL: url}, r.Next)
}

// The rows of a store with one of each thing come out of either engine as they went in,
// with ids that go on where they were. If this failed, a restored store would differ.
func TestTablesCrossEngines(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := fixture.New(t, s)
		w.Build(t, "guild", "copied", true)
		stream := written(t, s.DB)
		dbtest.Each(t, func(t *testing.T, engine db.Engine) {
			url := dbtest.URL(t, engine)
			if err := load(t, url, stream[:len(stream)-1]); !errors.Is(err, tables.ErrDamaged) {
				t.Errorf("a stream that is cut short: %v", err)
			}
			testkit.NoError(t, load(t, url, stream))
			if got := written(t, dbtest.OpenURL(t, url)); !bytes.Equal(got, stream) {
				t.Errorf("%d bytes became %d others", len(stream), len(got))
			}
			if err := load(t, url, stream); !errors.Is(err, db.ErrNotEmpty) {
				t.Errorf("a store that is not empty: %v", err)
			}
		})
	})
}

// Whatever stands in a stream, reading it ends with ErrDamaged or with what was written.
func FuzzReader(f *testing.F) {
	whole := written(f, dbtest.Open(f, db.SQLite))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add([]byte("arbor tables 1\n\x02{}"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		r, err := tables.NewReader(bytes.NewReader(stream))
		var table *db.TableRows
		for err == nil {
			if table, err = r.Next(); table == nil {
				break
			}
			for row := []any{nil}; row != nil && err == nil; {
				row, err = table.Next()
			}
		}
		if err != nil && !errors.Is(err, tables.ErrDamaged) {
			t.Error(err)
		}
	})
}

package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/cache"
	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// counting opens a database that counts the statements of contexts from counted.
func counting(t *testing.T, engine db.Engine) (d *db.DB, counted context.Context, n *atomic.Int64) {
	t.Helper()
	n = new(atomic.Int64)
	type mark struct{}
	d, err := db.OpenWith(t.Context(),
		db.Options{URL: dbtest.Empty(t, engine), Trace: func(ctx context.Context,
			_ string) {
			if ctx.Value(mark{}) != nil {
				n.Add(1)
			}
		}}, schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d, context.WithValue(t.Context(), mark{}, true), n
}

// family fills the tables with parents, of whom each has as many children as its number says.
func family(t *testing.T, d *db.DB, parents int) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		for n := range parents {
			if _, err := tx.Exec(`INSERT INTO parents (id, name) VALUES ($1, $2)`,
				n+1, fmt.Sprintf("p'%d", n)); err != nil {
				return err
			}
			for c := range n {
				if _, err := tx.Exec(`INSERT INTO children (id, parent_id) VALUES ($1, $2)`,
					100*n+c+1, n+1); err != nil {
					return err
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

const childrenOf = `SELECT id FROM children WHERE parent_id = $1 AND '$2"' <> $2 -- not $3
	ORDER BY id DESC LIMIT $3`

// What many read is what each would have read alone, in its order, and takes as many statements as one.
func TestTogetherReadsTheSame(t *testing.T) {
	t.Parallel()
	dbtest.EachDialect(t, func(t *testing.T, engine db.Engine) {
		d, ctx, statements := counting(t, engine)
		family(t, d, 20)
		type found struct {
			name     string
			children []int64
		}
		read := func(ctx context.Context, i int) (f found) {
			if err := d.Read(ctx, func(tx *db.Tx) error {
				if err := tx.QueryRow(`SELECT name FROM parents WHERE id = $1`,
					i+1).Scan(&f.name); err != nil {
					return err
				}
				if i%3 == 1 { // some ask more than others
					if _, err := db.QueryIDs[int64](tx, `SELECT id FROM parents WHERE name = $1`,
						f.name); err != nil {
						return err
					}
				}
				var err error
				f.children, err = db.QueryIDs[int64](tx, childrenOf, i+1, f.name, 7)
				return err
			}); err != nil {
				t.Error(err)
			}
			if err := d.ReadOne(ctx, func(tx *db.Tx) error {
				return tx.QueryRow(`WITH all_of AS (SELECT name FROM parents WHERE id = $1) SELECT name FROM all_of`,
					i+1).Scan(&f.name)
			}); err != nil {
				t.Error(err)
			}
			return f
		}
		var alone []found
		for i := range 20 {
			alone = append(alone, read(t.Context(), i))
		}
		for _, n := range []int{2, 20} {
			statements.Store(0)
			together := make([]found, n)
			d.Together(ctx, n, func(ctx context.Context, i int) { together[i] = read(ctx, i) })
			for i, f := range together {
				if f.name != alone[i].name || !slices.Equal(f.children, alone[i].children) {
					t.Errorf("%d: %v, alone %v", i, f, alone[i])
				}
			}
			if got := statements.Load(); got != 5 { // one of them twice: for those who ask more, later
				t.Errorf("%d statements for %d, want 5", got, n)
			}
		}
	})
}

// Values of all kinds come back as they are read alone.
func TestTogetherKeepsValues(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(`INSERT INTO vals (id, s, b, ok, n, small, f, at) VALUES
				(1, 'a', $1, true, 7, 3, 1.5, 99), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
				(3, '', $2, false, -1, 0, 0, 0)`,
				[]byte{0, 255}, []byte{})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		type row struct {
			s     *string
			b     []byte
			ok    *bool
			n     *int64
			small *int16
			f     *float64
			at    db.Time
			kind  string
		}
		read := func(ctx context.Context, i int) (r row) {
			if err := d.Read(ctx, func(tx *db.Tx) error {
				return tx.QueryRow(`SELECT s, b, ok, n, small, f, at, 'x' FROM vals WHERE id = $1`, i+1).
					Scan(&r.s, &r.b, &r.ok, &r.n, &r.small, &r.f, &r.at, &r.kind)
			}); err != nil {
				t.Error(err)
			}
			return r
		}
		got := make([]row, 3)
		d.Together(t.Context(), 3, func(ctx context.Context, i int) { got[i] = read(ctx, i) })
		show := func(r row) string {
			show := fmt.Sprintf("%v %v %q %v", r.b == nil, len(r.b), r.kind, r.at)
			if r.s != nil {
				show += fmt.Sprint(*r.s, *r.ok, *r.n, *r.small, *r.f)
			}
			return show
		}
		for i, r := range got {
			if alone := read(t.Context(), i); show(r) != show(alone) || !bytes.Equal(r.b, alone.b) {
				t.Errorf("%d: %s, alone %s", i, show(r), show(alone))
			}
		}
	})
}

// One that fails, asks too much, writes or panics harms no other.
func TestTogetherEachForItself(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		family(t, d, 20)
		own := errors.New("its own")
		const n = 7
		errs, counts := make([]error, n), make([]int, n)
		panicked := func() (v any) {
			defer func() { v = recover() }()
			d.Together(t.Context(), n, func(ctx context.Context, i int) {
				errs[i] = d.Read(ctx, func(tx *db.Tx) error {
					switch i {
					case 1: // wrong SQL
						return tx.QueryRow(`SELECT nothing FROM nowhere`).Scan(new(int))
					case 2: // text that is none
						return tx.QueryRow(`SELECT id FROM parents WHERE name = $1`, "\xff").Scan(new(int))
					case 3:
						return own
					case 4: // more than is kept, and alone that is no matter
						rows, err := tx.Query(
							`SELECT a.name, b.name FROM parents a, parents b, parents c, parents d WHERE $1 = 1`, 1)
						if err != nil {
							return err
						}
						defer rows.Close()
						for counts[i] = 0; rows.Next(); counts[i]++ {
						}
						return rows.Err()
					case 5:
						panic("ouch")
					}
					ids, err := db.QueryIDs[int64](tx, `SELECT id FROM children WHERE parent_id = $1`, 20)
					counts[i] = len(ids)
					return err
				})
				if i == 6 {
					errs[i] = errors.Join(errs[i], d.Write(ctx, func(tx *db.Tx) error {
						return tx.Bump("topic")
					}))
				}
			})
			return nil
		}()
		if panicked != "ouch" {
			t.Errorf("panicked with %v", panicked)
		}
		if errs[0] != nil || counts[0] != 19 || errs[6] != nil || counts[6] != 19 {
			t.Errorf("who does nothing wrong gets %v, %v and %v", errs[0], errs[6], counts)
		}
		if errs[1] == nil || errs[2] == nil || !errors.Is(errs[2], db.ErrText) || errs[3] != own {
			t.Errorf("errors %v", errs)
		}
		if errs[4] != nil || counts[4] != 20*20*20*20 {
			t.Errorf("much: %v, %d rows", errs[4], counts[4])
		}
	})
}

// Members that wait for one another, and what outlives the group, get on. One that stands still is waited
// for as long as a second: of some groups, since the machine may be busy, one takes less.
func TestTogetherWaits(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		family(t, d, 3)
		least := time.Hour
		for try := 0; try < 20 && least > 900*time.Millisecond; try++ {
			least = min(least, waitForOneAnother(t, d))
		}
		if least > 900*time.Millisecond {
			t.Errorf("they took %v", least)
		}
	})
}

// waitForOneAnother has the members of a group read one thing, which is read once, and tells how long they
// took.
func waitForOneAnother(t *testing.T, d *db.DB) time.Duration {
	t.Helper()
	kept := cache.NewCount[string, string](10)
	var reads atomic.Int64
	began := time.Now()
	later := make(chan error, 1)
	d.Together(t.Context(), 10, func(ctx context.Context, i int) {
		name, err := kept.ReadAlone(ctx, cache.Forever, "key", func() (name string, err error) {
			reads.Add(1)
			err = d.Read(ctx, func(tx *db.Tx) error {
				return tx.QueryRow(`SELECT name FROM parents WHERE id = $1`, 1).Scan(&name)
			})
			return name, err
		})
		if err != nil || !strings.HasPrefix(name, "p") {
			t.Error(name, err)
		}
		if i == 0 {
			go func() {
				time.Sleep(50 * time.Millisecond)
				later <- d.Read(ctx, func(tx *db.Tx) error {
					return tx.QueryRow(`SELECT name FROM parents WHERE id = $1`, 1).Scan(&name)
				})
			}()
		}
	})
	took := time.Since(began)
	if reads.Load() != 1 {
		t.Errorf("%d reads", reads.Load())
	}
	if err := <-later; err != nil {
		t.Error(err)
	}
	return took
}

// A member that stands still is not waited for.
func TestTogetherStandsStill(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		family(t, d, 3)
		free := make(chan struct{})
		d.Together(t.Context(), 3, func(ctx context.Context, i int) {
			if i == 2 {
				<-free // what nobody told the group of
				return
			}
			if err := d.Read(ctx, func(tx *db.Tx) error {
				return tx.QueryRow(`SELECT name FROM parents WHERE id = $1`, i+1).Scan(new(string))
			}); err != nil {
				t.Error(err)
			}
			if i == 0 {
				close(free)
			}
		})
	})
}

// A query that cannot stand within another one is answered all the same, the first time and later.
func TestTogetherWhatDoesNotMerge(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		family(t, d, 3)
		for range 2 {
			got := make([]int64, 4)
			d.Together(t.Context(), 4, func(ctx context.Context, i int) {
				if err := d.Read(ctx, func(tx *db.Tx) error {
					return tx.QueryRow(`SELECT MAX(CAST($1 AS BIGINT)) + COUNT(*) FROM parents`,
						10*i).Scan(&got[i])
				}); err != nil {
					t.Error(err)
				}
			})
			if !slices.Equal(got, []int64{3, 13, 23, 33}) {
				t.Errorf("got %v", got)
			}
		}
	})
}

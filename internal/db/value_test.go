package db_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

type state string
type id int64

// What goes in comes out, on both engines: else a column would lose or change
// what a user entered.
func TestValues(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		text, no, at := "naïve ☃", false, db.Time(1303479228000123)
		var none *string
		mustWrite(t, d, func(tx *db.Tx) error {
			const insert = `INSERT INTO vals (id, s, b, ok, n, small, f, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
			for _, row := range [][]any{
				{1, text, []byte{0, 1, 255}, true, int64(math.MaxInt64), 7, 1.5, at},
				{id(2), state(""), []byte{}, &no, math.MinInt64, int16(-3), 0.0, db.Time(0)},
				{3, none, nil, nil, nil, nil, nil, nil},
				{4, &text, []byte(nil), no, uint32(math.MaxUint32), int8(1), float32(2), &at},
			} {
				if _, err := tx.Exec(insert, row...); err != nil {
					return err
				}
			}
			return nil
		})
		type row struct {
			S     *state
			B     []byte
			OK    *bool
			N     *id
			Small *int
			F     *float64
			At    db.Time
		}
		var got []row
		err := d.Read(context.Background(), func(tx *db.Tx) error {
			got = nil
			rows, err := tx.Query(`SELECT s, b, ok, n, small, f, at FROM vals ORDER BY id`)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var r row
				if err := rows.Scan(&r.S, &r.B, &r.OK, &r.N, &r.Small, &r.F, &r.At); err != nil {
					return err
				}
				got = append(got, r)
			}
			return rows.Err()
		})
		testkit.NoError(t, err)
		b, _ := json.Marshal(got)
		want := `[{"S":"naïve ☃","B":"AAH/","OK":true,"N":9223372036854775807,"Small":7,"F":1.5,"At":"2011-04-22T13:33:48Z"},` +
			`{"S":"","B":"","OK":false,"N":-9223372036854775808,"Small":-3,"F":0,"At":null},` +
			`{"S":null,"B":null,"OK":null,"N":null,"Small":null,"F":null,"At":null},` +
			`{"S":"naïve ☃","B":null,"OK":false,"N":4294967295,"Small":1,"F":2,"At":"2011-04-22T13:33:48Z"}]`
		if string(b) != want {
			t.Errorf("got  %s\nwant %s", b, want)
		}
		if got[0].At != at {
			t.Errorf("a time lost its microseconds: %d", got[0].At)
		}
	})
}

// Plain destinations, and what does not fit them: nothing is cut or guessed.
func TestScan(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		mustWrite(t, d, stmt(
			`INSERT INTO vals (id, s, b, ok, n, small) VALUES (1, 'x', NULL, TRUE, 300, NULL)`))
		scan := func(column string, dest any) error {
			return d.Read(context.Background(), func(tx *db.Tx) error {
				return tx.QueryRow(`SELECT ` + column + ` FROM vals`).Scan(dest)
			})
		}
		var s string
		var st state
		var b []byte
		var ok bool
		var n int
		var n64 int64
		var f float64
		for column, dest := range map[string]any{"s": &s, "s ": &st, "b": &b, "ok": &ok, "n": &n, "n ": &n64,
			"n*1.0": &f} {
			if err := scan(column, dest); err != nil {
				t.Errorf("scan %s into %T: %v", column, dest, err)
			}
		}
		if s != "x" || st != "x" || b != nil || !ok || n != 300 || n64 != 300 || f != 300 {
			t.Errorf("read %q %q %v %v %d %d %g", s, st, b, ok, n, n64, f)
		}
		var small int8
		for column, dest := range map[string]any{"small": &n, "n": &small, "s": &n, "s ": &ok} {
			if err := scan(column, dest); err == nil {
				t.Errorf("scan %s into %T: no error", column, dest)
			}
		}
	})
}

func TestTextIsCheckedBeforeTheEngineSeesIt(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		for _, text := range []string{"a\x00b", "a\xffb"} {
			err := d.Write(context.Background(), stmt(`INSERT INTO vals (id, s) VALUES (1, $1)`, text))
			if !errors.Is(err, db.ErrText) {
				t.Errorf("%q: %v", text, err)
			}
		}
		err := d.Write(context.Background(), stmt(`INSERT INTO vals (id, s) VALUES (1, $1)`, struct{}{}))
		if err == nil {
			t.Error("a struct was stored")
		}
	})
}

func TestTime(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at   db.Time
		want string
	}{
		{0, "null"},
		{db.FromTime(time.Time{}), "null"},
		{db.FromTime(time.Date(2011, 4, 22, 13, 33, 48, 999999999, time.UTC)), `"2011-04-22T13:33:48Z"`},
		{db.FromTime(time.Date(2024, 2, 29, 1, 30, 0, 0, time.FixedZone("", 7200))),
			`"2024-02-28T23:30:00Z"`},
		{db.FromTime(time.Date(1969, 12, 31, 23, 59, 58, 500, time.UTC)), `"1969-12-31T23:59:58Z"`},
		{db.FromTime(time.Date(9, 1, 2, 3, 4, 5, 0, time.UTC)), `"0009-01-02T03:04:05Z"`},
	} {
		got, err := json.Marshal(c.at)
		if err != nil || string(got) != c.want {
			t.Errorf("%d: %s, %v; want %s", c.at, got, err, c.want)
		}
		if !c.at.IsZero() && string(got) != c.at.Time().Format(`"`+time.RFC3339+`"`) {
			t.Errorf("%d: %s is not RFC 3339", c.at, got)
		}
	}
}

func TestPlaceholders(t *testing.T) {
	t.Parallel()
	if got := db.Values(2, 3); got != "($1,$2,$3),($4,$5,$6)" {
		t.Error(got)
	}
	if got := db.Values(1, 1); got != "($1)" {
		t.Error(got)
	}
}

func TestUnique(t *testing.T) {
	t.Parallel()
	ids := []id{7, 3, 7, 9, 3}
	if got := db.Unique(ids); !slices.Equal(got, []id{7, 3, 9}) || !slices.Equal(ids, []id{7, 3, 7, 9, 3}) {
		t.Errorf("%d of %d", got, ids)
	}
	if got := db.Unique[id](nil); len(got) != 0 {
		t.Error(got)
	}
}

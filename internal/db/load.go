package db

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrNotEmpty says that a database holds something already.
var ErrNotEmpty = errors.New("db: the database is not empty")

// Load fills an empty database in one transaction, which is durable when Load returns nil. next returns one
// table after another, and nil after the last one. Foreign keys are checked at the end, so the order of the
// tables does not matter. Triggers do not fire, and the server fills the full-text indexes later. Errors:
// ErrNotEmpty; *InUseError; those of next and of rows.
func Load(ctx context.Context, o Options, next func() (*TableRows, error)) (err error) {
	d, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	var into []Table
	if err = d.Read(ctx, func(tx *Tx) (err error) {
		if into, err = Tables(tx); err != nil {
			return err
		}
		return CheckUnused(tx)
	}); err != nil {
		return err
	}
	m, err := d.backend.migrator(ctx)
	if err != nil {
		return err
	}
	defer m.close()
	if err = m.lock(ctx); err != nil {
		return err
	}
	if err = m.begin(); err == nil {
		err = m.finish((&loader{m, into}).load(ctx, next))
	}
	return errors.Join(err, m.unlock())
}

// Empty reports whether a database, which it opens, holds nothing: everything hangs on
// accounts. Error: *InUseError while a server works on it.
func Empty(ctx context.Context, o Options) (empty bool, err error) {
	d, err := Open(ctx, o)
	if err != nil {
		return false, err
	}
	err = d.Read(ctx, func(tx *Tx) error {
		if err := CheckUnused(tx); err != nil {
			return err
		}
		return tx.QueryRow(`SELECT NOT EXISTS (SELECT 1 FROM accounts)`).Scan(&empty)
	})
	return empty, errors.Join(err, d.Close())
}

// TableRows are a table and its rows.
type TableRows struct {
	Table
	Next func() (row []any, err error) // nil after the last row; see Table.EachRow for values
}

// loader fills the tables of one database.
type loader struct {
	migrator
	into []Table
}

func (l *loader) load(ctx context.Context, next func() (*TableRows, error)) error {
	if err := l.clear(ctx); err != nil {
		return err
	}
	enforce, err := l.relax(ctx)
	if err != nil {
		return err
	}
	left := slices.Clone(l.into)
	for {
		t, err := next()
		if err != nil {
			return err
		}
		if t == nil {
			break
		}
		i := slices.IndexFunc(left, func(k Table) bool {
			return k.Name == t.Name &&
				slices.Equal(k.Columns, t.Columns)
		})
		if i < 0 {
			return fmt.Errorf("db: the table %q is not one of this program's, or has other columns", t.Name)
		}
		left = slices.Delete(left, i, i+1)
		if err := l.copy(ctx, t); err != nil {
			return fmt.Errorf("db: fill %s: %w", t.Name, err)
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("db: %d tables are missing, %q among them", len(left), left[0].Name)
	}
	for _, statement := range append(enforce, noteTexts...) {
		if err := l.script(ctx, statement); err != nil {
			return fmt.Errorf("db: %.80q: %w", statement, err)
		}
	}
	return nil
}

// noteTexts schedules filling the full-text indexes, which are not copied.
var noteTexts = []string{
	`INSERT INTO texts_changed (issue_id, comment_id) SELECT id, 0 FROM issues`,
	`INSERT INTO texts_changed (issue_id, comment_id) SELECT issue_id, id FROM issue_comments`,
	`INSERT INTO names_changed (repo_id, account_id) SELECT id, 0 FROM repos`,
	`INSERT INTO names_changed (repo_id, account_id) SELECT 0, id FROM accounts`,
}

// clear checks that the database is empty, and removes the rows that every new one has.
func (l *loader) clear(ctx context.Context) error {
	found, err := l.strings(ctx, `SELECT login FROM accounts LIMIT 1`)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return ErrNotEmpty
	}
	for _, t := range l.into {
		if _, err := l.exec(ctx, `DELETE FROM "`+t.Name+`"`, nil); err != nil {
			return err
		}
	}
	return nil
}

// relax takes away what would stand in the way of the rows, and returns the statements that
// bring it back.
func (l *loader) relax(ctx context.Context) (enforce []string, err error) {
	if l.engine() == SQLite { // whose migrator checks foreign keys at the end alone
		if enforce, err = l.strings(ctx,
			`SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name`); err != nil {
			return nil, err
		}
		return enforce, l.each(ctx,
			`SELECT 'DROP TRIGGER "' || name || '"' FROM sqlite_schema WHERE type = 'trigger'`)
	}
	const keys = ` FROM pg_constraint WHERE contype = 'f'
		AND connamespace = CAST(current_schema() AS REGNAMESPACE)
		ORDER BY conname`
	enforce, err = l.strings(ctx, `SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s',
		CAST(conrelid AS REGCLASS), conname, pg_get_constraintdef(oid))`+keys)
	if err != nil {
		return nil, err
	}
	for _, t := range l.into {
		if err := l.script(ctx, `ALTER TABLE "`+t.Name+`" DISABLE TRIGGER USER`); err != nil {
			return nil, err
		}
		enforce = append(enforce, `ALTER TABLE "`+t.Name+`" ENABLE TRIGGER USER`)
	}
	return enforce, l.each(ctx,
		`SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', CAST(conrelid AS REGCLASS), conname)`+keys)
}

// copy inserts the rows of a table, and notes the last id.
func (l *loader) copy(ctx context.Context, t *TableRows) error {
	if pg, ok := l.migrator.(*postgresMigrator); ok {
		return pg.copy(ctx, t)
	}
	columns := t.columnNames(nil)
	insert := `INSERT INTO "` + t.Name + `" (` + strings.Join(columns, `, `) + `) VALUES ` + Values(1,
		len(columns))
	for {
		row, err := t.Next()
		if err != nil {
			return err
		}
		if row == nil {
			break
		}
		bound, err := bind(row)
		if err == nil {
			_, err = l.exec(ctx, insert, bound)
		}
		if err != nil {
			return err
		}
	}
	if _, err := l.exec(ctx, `DELETE FROM sqlite_sequence WHERE name = $1`, []any{t.Name}); err != nil ||
		t.Last == 0 {
		return err
	}
	_, err := l.exec(ctx, `INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)`, []any{t.Name, t.Last})
	return err
}

func (m *postgresMigrator) copy(ctx context.Context, t *TableRows) error {
	names := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		names[i] = c.Name
	}
	_, err := m.raw.CopyFrom(ctx, pgx.Identifier{t.Name}, names, pgx.CopyFromFunc(t.Next))
	if err != nil || t.Last == 0 {
		return err
	}
	// The id's sequence is the only one that a table has.
	_, err = m.exec(ctx, `SELECT setval(pg_get_serial_sequence($1, 'id'), $2)`, []any{t.Name, t.Last})
	return err
}

// each runs the statements that a query gives.
func (l *loader) each(ctx context.Context, query string) error {
	list, err := l.strings(ctx, query)
	for _, statement := range list {
		if err == nil {
			err = l.script(ctx, statement)
		}
	}
	return err
}

func (l *loader) strings(ctx context.Context, query string) (list []string, err error) {
	rows, err := l.query(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	for rows.next() {
		var s string
		if err := rows.scan([]any{&s}); err != nil {
			return nil, errors.Join(err, rows.close())
		}
		list = append(list, s)
	}
	return list, rows.close()
}

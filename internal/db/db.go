// Package db is SQL for Arbor: one text of queries on two engines, SQLite in a
// file next to the repositories or a PostgreSQL server.
//
//	db.go          Open, Read, Write, Generation, Close
//	tx.go          Tx, Rows, Row: what a transaction's function works with
//	right.go       WriteAs: a right that is checked again before a commit
//	twice.go       in the long tests, each transaction's function runs twice
//	value.go       which Go values go in, and into which they come out
//	time.go        Time: microseconds, as every table stores them
//	errors.go      sentinels and kinds for the drivers' codes
//	migrate.go     migrations/NNNN_name, and the tables that keep count; squash.go: stores from before the schema
//	erase.go       Erase: all rows go
//	shrink.go      Shrink: SQLite's file gives free pages back to the disk, in pieces
//	scrub.go       Scrub: what was deleted leaves the files as well
//	tables.go      Tables: the tables that are copied, and their rows in order
//	load.go        Load: an empty database is filled with such rows
//	nodes.go       Join: the processes that serve the database, their versions and clocks
//	migrators.go   how each engine locks for them, and what their tokens mean
//	wait.go        how long and with how many others a caller waits for a connection
//	sqlite.go      SQLite: the file, reads
//	sqliteconn.go  SQLite: a connection, its rows
//	sqlitedriver.go  SQLite: what database/sql opens, with its prepared statements
//	writer.go      SQLite: the one writer, the queue for it, and commits shared by those who wait
//	sqlitelog.go   SQLite: the log, and when it is folded into the file
//	turnstile.go   SQLite: processes take turns at writing
//	postgres.go    PostgreSQL: transactions, retries
//	postgresconn.go  PostgreSQL: a connection, its rows
//	replica.go     PostgreSQL: requests that change nothing read from a standby
//	nextid.go      NextID: the id of a row before it is inserted
//	bell.go        Ring: workers of this process hear of commits
//	turns.go       RunInSteps: upkeep that leaves most of the time to others; RunOnBell: workers
//	lease.go       Jobs: rows that one worker at a time has, by the database's clock
//	moments.go     State, Generation: concurrent calls share a query
//	moment.go      Remember: a request asks once
//	state.go       SQLite: whether anything was committed, at no cost
//
// What holds on both engines alike, so that a test on one speaks for both:
//
//   - Parameters are $1, $2, ...; a statement is one statement.
//   - After a statement failed, the transaction is lost: later statements
//     return the first error again, and so does Write, even if its function
//     returns nil. Use ON CONFLICT where a clash is expected.
//   - One statement at a time: while Rows are open, another is refused.
//   - Text is valid UTF-8 without NUL, else [ErrText]. What may be anything
//     (paths, messages of commits) goes into {{bytes}} columns.
//   - Text compares and sorts by bytes.
//   - A zero Time is stored as NULL, and NULL is scanned as the zero Time.
//
// Where the engines still differ: a parameter in a place without a type
// ($1 IS NULL) needs a CAST on PostgreSQL; INSERT ... SELECT ... ON CONFLICT
// needs WHERE true on SQLite; LIKE folds ASCII on SQLite only; an integer goes
// into a boolean place, and a boolean into an integer's, on SQLite only.
//
// On SQLite a commit logs whole pages, five for a star, so new files have pages of 2 KiB: a star by one
// client costs 7 % less, and lists of a million rows no more.
//
// While the state of the database stays (state.go), tokens and repositories that were found are taken
// from memory. SQLite counts commits for that. On PostgreSQL a commit takes its own transaction out of
// pg_current_snapshot() before it is acknowledged, so while the text of that stays nothing was committed.
// A request remembers the answer (Remember) until a transaction of its own ends, for a tenth of a second
// at most.
//
// [DB.ReadOne] needs no transaction.
package db

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"
)

//go:embed migrations
var embedded embed.FS

// Engine is one of the two engines, for logs and backups. Queries are the same on both, so nothing else
// should need it.
type Engine uint8

// The engines.
const (
	SQLite Engine = iota
	PostgreSQL
)

// String returns "sqlite" or "postgres".
func (e Engine) String() string {
	if e == PostgreSQL {
		return "postgres"
	}
	return "sqlite"
}

// Locking returns the end of a SELECT inside a statement that writes. The rows that it reads from the table
// of that name are the newest ones and do not change until the transaction ends. It is empty on SQLite,
// which has one writer.
func (e Engine) Locking(table string) string {
	if e == PostgreSQL {
		return " FOR NO KEY UPDATE OF " + table
	}
	return ""
}

// Options configure a database.
type Options struct {
	URL string       // "postgres://..." or "postgresql://...", else the path of a SQLite file
	Log *slog.Logger // nil: nothing is logged

	// Replica is the URL of a hot standby of PostgreSQL from which requests that change nothing read
	// ([WithReplicaReads]), or empty.
	Replica string

	Now func() time.Time // nil: time.Now. Tests fix it.

	// Connections limits the open connections: to PostgreSQL, unless its URL sets pool_max_conns (0: 16),
	// and for reading SQLite (0: 8).
	Connections int

	// Holder returns the holder of a context as a value to compare, or nil for the server itself. The
	// writes of one holder use at most a quarter of the connections to PostgreSQL, and all writes a half.
	// SQLite has one writer and ignores it.
	Holder func(ctx context.Context) any

	// SecureDelete overwrites deleted data in the file of a SQLite database. Writes become slower.
	// PostgreSQL ignores it.
	SecureDelete bool

	// Throwaway declares that the file is deleted when this process is done with it: commits are not
	// synced. PostgreSQL ignores it.
	Throwaway bool

	// Trace is called with the text of each statement before it runs, and with its caller's context, except
	// for statements that begin and end transactions. It may be nil. Tests use it to count statements.
	Trace func(ctx context.Context, query string)

	// Writing is called before each write by a right ([DB.WriteAs]), with its caller's context. It may be nil. Tests
	// use it to see the right, and to end it between its check and the write.
	Writing func(ctx context.Context, right Right)

	// hangUp is how long PostgreSQL may take to stop a statement, to COMMIT or to ROLLBACK; 0: some seconds.
	hangUp time.Duration
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	kind    Engine
	backend backend
	replica *replica // may be nil
	now     func() time.Time
	moments *moments
	trace   func(ctx context.Context, query string) // may be nil
	writing func(ctx context.Context, right Right)  // may be nil
	bells   bells
	parts   sync.Map // see Attach

	reads, writes durations

	spare atomic.Int64 // see Spare
}

// backend is the part of a DB that differs between engines.
type backend interface {
	// read runs fn in one snapshot. long makes its statements interruptible.
	read(ctx context.Context, fn func(*Tx) error, long bool) error
	readOne(ctx context.Context, fn func(*Tx) error) error
	write(ctx context.Context, fn func(*Tx) error) error
	// ask sets the state and the current numbers.
	ask(ctx context.Context, m *moment) error
	// answers is DB.Answers.
	answers(ctx context.Context) error
	// shrink is DB.Shrink, and returns the number of free bytes that the file has afterwards.
	shrink(ctx context.Context, keep int64) (spare int64, more bool, err error)
	// scrub is DB.Scrub.
	scrub(ctx context.Context, whole bool) error
	connections() Connections
	// migrator opens a connection of its own for migrations.
	migrator(ctx context.Context) (migrator, error)
	close() error
}

// Open opens the database, brings its tables up to date and returns it ready
// for use. Several processes may open one database at the same time. It fails
// when the database was migrated by a newer program, or by a changed migration.
// ctx bounds opening only.
func Open(ctx context.Context, o Options) (*DB, error) {
	migrations, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, err
	}
	return open(ctx, o, migrations)
}

func open(ctx context.Context, o Options, migrations fs.FS) (*DB, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	err := CheckURL(o.URL)
	if err != nil {
		return nil, err
	}
	d := &DB{trace: o.Trace, writing: o.Writing, now: o.Now}
	if isPostgres(o.URL) {
		d.kind = PostgreSQL
		d.backend, err = newPostgres(o)
	} else {
		d.kind = SQLite
		d.backend, err = newSQLite(o)
	}
	if err != nil {
		return nil, err
	}
	err = migrate(ctx, d.backend, o, migrations)
	if err == nil && o.Replica != "" {
		err = d.follow(ctx, o)
	}
	if err != nil {
		d.backend.close()
		return nil, err
	}
	d.moments = newMoments(d.backend.ask)
	return d, nil
}

// Engine returns which engine runs the database.
func (d *DB) Engine() Engine { return d.kind }

// File returns the path of a SQLite database, or "" on PostgreSQL.
func (d *DB) File() string {
	if b, ok := d.backend.(*sqliteBackend); ok {
		return b.path
	}
	return ""
}

// Now returns the time of the database's clock, see [Tx.Now].
func (d *DB) Now() Time { return FromTime(d.now()) }

// Close finishes the waiting writes, rejects new ones and closes the database. It merges SQLite's log into
// its file.
func (d *DB) Close() error {
	if d.replica != nil {
		d.replica.close()
	}
	return d.backend.close()
}

// Read runs fn in one read-only snapshot that holds everything acknowledged
// before the call. Keep it short: an open snapshot lets SQLite's log grow.
//
// When ctx ends, the read ends at its next statement or row with ctx's error;
// on SQLite a single statement that takes long is not stopped, use [DB.ReadLong]
// for those. fn may run more than once. Read inside fn of a Read or Write is a
// mistake: it may wait for its own connection until it gives up.
//
// Errors: fn's own; errs.Unavailable when too many wait or the database is
// closed.
func (d *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	return d.read(ctx, fn, false)
}

// ReadLong is Read for statements that may take long: ctx interrupts them. On SQLite each statement costs
// some 2 µs more.
func (d *DB) ReadLong(ctx context.Context, fn func(*Tx) error) error {
	return d.read(ctx, fn, true)
}

// ReadOne is Read for a function that runs a single statement and reads its rows to the end. PostgreSQL
// answers it in one round trip, without a transaction.
func (d *DB) ReadOne(ctx context.Context, fn func(*Tx) error) (err error) {
	began := d.reads.begin()
	defer func() { d.reads.end(began, err) }()
	one := func(tx *Tx) error {
		tx.single = true
		return fn(tx)
	}
	return d.transact(one, false, func(fn func(*Tx) error) error {
		if done, err := d.readReplica(ctx, "", fn); done {
			return err
		}
		return d.backend.readOne(ctx, fn)
	})
}

func (d *DB) read(ctx context.Context, fn func(*Tx) error, long bool) (err error) {
	began := d.reads.begin()
	defer func() { d.reads.end(began, err) }()
	return d.transact(fn, false, func(fn func(*Tx) error) error {
		if done, err := d.readReplica(ctx, beginRead, fn); done {
			return err
		}
		return d.backend.read(ctx, fn, long)
	})
}

// Write runs fn in one transaction, which is durable when Write returns nil
// and not there at all when it returns an error (but for a connection to
// PostgreSQL or a disk that fails during COMMIT: then nobody knows, and the error is
// [ErrOutcomeUnknown]).
//
// fn may run more than once, so it changes nothing outside the database: what
// must follow a commit goes into [Tx.OnCommit]. Results may be assigned to the
// caller's variables, never added to what they hold. Wait for no process, file
// or network inside it. Read or Write inside fn is a mistake: it waits for its
// own transaction until it gives up.
//
// A caller whose ctx ends while it waits for its turn gets ctx's error, and
// its fn never runs. On SQLite ctx is not looked at once fn runs; on PostgreSQL
// it stops a statement and so the transaction, but never a COMMIT.
//
// Write is for the server's own work and for commands. Operations that a request asks for use [DB.WriteAs]: within a
// request that may change things ([WithRightRequired]) Write fails.
//
// Errors: fn's own; those of errors.go; errs.Unavailable
// when too many wait, another process holds the database for long, or the
// database is closed.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	if err := unasked(ctx); err != nil {
		return err
	}
	return d.write(ctx, nil, fn)
}

func (d *DB) write(ctx context.Context, right Right, fn func(*Tx) error) (err error) {
	began := d.writes.begin()
	defer func() { d.writes.end(began, err) }()
	defer forget(ctx)
	return d.transact(checked(ctx, right, fn), true, func(fn func(*Tx) error) error {
		return d.backend.write(ctx, fn)
	})
}

// transact runs fn with run, one of the backend's methods that run a transaction. After a commit it calls
// the functions that the last run passed to [Tx.OnCommit].
func (d *DB) transact(fn func(*Tx) error, write bool, run func(func(*Tx) error) error) error {
	var last *Tx
	err := run(func(tx *Tx) error {
		last = tx
		tx.bells, tx.parts, tx.trace = &d.bells, &d.parts, d.trace
		if err := tx.call(fn, write); err != nil {
			return err
		}
		return tx.finish()
	})
	if err != nil {
		return err
	}
	for _, call := range last.onCommit { // also what statements registered that were sent after fn returned
		call()
	}
	return nil
}

// Attach attaches a part of the program under a key to all later transactions, for packages that cannot
// import it, see [Tx.Attached].
func (d *DB) Attach(key, part any) { d.parts.Store(key, part) }

// Answers runs a small query to check that the database works. It uses a connection of its own.
func (d *DB) Answers(ctx context.Context) error { return d.backend.answers(ctx) }

// Generation returns how often a transaction bumped topic: 0 for one never
// bumped. The answer holds everything acknowledged, by this process or any
// other, before the call began; under [DB.Remember], before the request first asked.
func (d *DB) Generation(ctx context.Context, topic string) (int64, error) {
	m, err := d.moment(ctx, topic)
	return m.numbers[topic], err
}

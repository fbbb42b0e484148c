package db

import (
	"io/fs"
	"time"
)

// OpenWith is Open with other migrations than the embedded ones.
var OpenWith = open

// MaxMoment is how long a request relies on one moment.
const MaxMoment = maxMoment

// Migrations are the embedded files.
var Migrations, _ = fs.Sub(embedded, "migrations")

// Holders is how many holders write to PostgreSQL, or wait for that.
func (d *DB) Holders() int {
	s := &d.backend.(*postgresBackend).shares
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

// Orphan creates a row of a SQLite store that names no row, as damage does.
func (d *DB) Orphan(statement string) error {
	c, err := d.backend.(*sqliteBackend).openWriter()
	if err != nil {
		return err
	}
	err = c.script("PRAGMA foreign_keys=0")
	if err == nil {
		err = c.script(statement)
	}
	c.close()
	return err
}

// SetReplicaPatience sets how long the replica may lag before somebody is told.
func (d *DB) SetReplicaPatience(long time.Duration) { d.replica.lagAlarm = long }

// SetReplicaTimeout sets how long a read may take on the replica before the primary serves it.
func (d *DB) SetReplicaTimeout(long time.Duration) { d.replica.maxRead = long }

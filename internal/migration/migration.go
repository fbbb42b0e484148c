// Package migration takes a repository with its whole history out of a server, and into one: arbor export and arbor
// import. (The migrations of the database's schema are in package db.)
//
//	record.go       the format: a type for each kind of record; recordfile.go: of releases, files and settings
//	organization.go an organization with its members and teams
//	source.go       Source, from which an import reads records, and the folder of an export
//	sink.go         Sink, to which an export writes: a folder, or a tar
//	export.go       Export; storeexport*.go: its SQL
//	import.go       Import: from a Source to a repository; importrecords.go: records to rows, in batches
//	people.go       accounts for the people of the source: by a map or a verified address, or a mannequin
//	text.go         mentions and links in texts
//	check.go        validation of records
//	report.go       the report of an import: counts and problems
//	storenumber.go  numbers here, for a source with other numbers
//	batch*.go       how the records of each kind become rows; storebatch.go, storefile.go: their SQL
//	batchhook.go    webhooks, inactive
//	rules.go        rulesets and protections, with names in the place of ids
//
// A [Source] gives records; the importer knows nothing of where they come from. docs/migration.md describes the format.
//
// Tables: imports, imported. An import creates a repository. It writes records in batches; each batch is one
// transaction, which also stores the keys and digests of its records in the table imported. So an import that was
// killed resumes where it stopped, and a later one imports what is new or has changed. Rows keep the numbers, times and
// authors of the source. Imported rows cause no notifications, webhooks or feed entries: they are written as package
// issue would have written them at the time, without the steps of package forge that notify others.
//
// Transitions: when a repository is deleted, its rows in both tables are deleted. After a rename or transfer they stay.
// Once somebody has worked in the repository, further imports are refused: numbers would clash.
package migration

import (
	"log/slog"

	"arbor/internal/db"
	"arbor/internal/forge"
)

// Service exports and imports repositories.
type Service struct {
	DB *db.DB
	*forge.Forge
	Log *slog.Logger
}

// New returns a Service.
func New(d *db.DB, f *forge.Forge, log *slog.Logger) *Service {
	return &Service{DB: d, Forge: f, Log: log}
}

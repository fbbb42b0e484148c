// Package migration takes a repository with its whole history out of a server, and into one: arbor export and arbor
// import. (The migrations of the database's schema are in package db.)
//
//	record.go       the format: a type for each kind of record; recordfile.go: of releases, files and settings
//	organization.go an organization with its members and teams
//	source.go       what gives records: Source, and the folder of an export
//	sink.go         where an export goes: a folder, or a tar
//	export.go       Export; storeexport*.go: its SQL
//	import.go       Import: from a Source to a repository; importrecords.go: records to rows, in batches
//	people.go       whose the records are here: a map, a verified address, or a mannequin
//	text.go         mentions and links in texts
//	check.go        what is wrong with a record
//	report.go       what came, what did not, and why
//	storenumber.go  numbers here, for a source that has other ones
//	batch*.go       how the records of each kind become rows; storebatch.go, storefile.go: their SQL
//	batchhook.go    webhooks, inactive
//	rules.go        rulesets and protections, with names in the place of ids
//
// A [Source] gives records; the importer knows nothing of where they come from. docs/migration.md describes the format.
//
// Tables: imports, imported. An import makes a repository of its own. It writes batches, each in a transaction that
// also notes which records it has brought (imported, with a digest): so an import that was killed goes on where it was,
// and a later one brings what is new and what has changed. Rows keep the numbers, times and authors of the source.
// Nobody is notified, no webhook is called and no feed shows what is past: rows are written as package issue
// would have written them then, without the steps of package forge that tell others.
//
// Transitions: a repository that is deleted takes its rows of both tables with it. A renamed or transferred one keeps
// them. Once somebody has worked in the repository, it takes no further import: numbers would clash.
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

// Package backup copies a store while servers work on it, and makes a store of the copy.
//
//	save.go      one backup: the snapshot of the database, then every object that it needs
//	folder.go    into a folder, where a later one adds only what is new
//	nightly.go   looks at a part of the backup that is in the folder, before it is brought up to date
//	verify.go    looks at all of one
//	archive.go   into a stream, and out of one into a folder
//	manifest.go  what a backup holds, with checksums
//	restore.go   from a folder into an empty store
//	move.go      from a database into another one
//	tables       the form in which rows travel
//
// A backup has a snapshot of the database. Objects are written before the transaction that makes them
// reachable, and packing removes none, so all objects of the snapshot are still in the repositories'
// directories when these are copied. Only the directories of deleted repositories could be removed: a lease
// in the database keeps these (repo.HoldFolders) and files other than objects (package file).
//
// A backup holds a copy of each file, from the data folder or from the depot where it lies (--objects), so that it is
// whole without the bucket. A restore puts all of them into the data folder; arbor objects move brings them to a
// bucket again.
//
// The tables are read in one snapshot, not copied by SQLite's online backup: that begins
// again with each write of another process, and what it copies suits no other engine. Git's
// caches (packed-refs, graphs, bitmaps) and full-text indexes are not part of a backup: the
// server rebuilds them.
package backup

import (
	"arbor/internal/file"
	"arbor/internal/signature"
)

// repositoriesDir is the folder of all repositories' folders, below the data folder.
const repositoriesDir = "repositories"

// keyDirs are the folders of the data folder that hold keys, in files: certificates that an authority has
// given, the host keys of SSH, and the keys with which the server signs commits and addresses of images.
var keyDirs = []string{"acme", "ssh", "images", signature.Folder}

// storeDirs are the folders of the data folder whose files a backup holds.
var storeDirs = append([]string{repositoriesDir, file.Folder}, keyDirs...)

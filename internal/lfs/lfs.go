// Package lfs is Git LFS: large files beside Git, which has a small text, the pointer, in their place.
//
//	pointer.go    pointers
//	token.go      short-lived tokens, for one repository and one direction
//	access.go     who is calling, and with what right
//	batch.go      POST .../info/lfs/objects/batch: where objects are, and where they go
//	transfer.go   the bytes of one object, up and down
//	converse.go, converselock.go, message.go  git-lfs-transfer: the same requests in a conversation over SSH
//	lock.go       locks of paths; apilock.go: their handlers
//	push.go       refuses pushes that change what somebody else has locked
//	share.go      objects that a repository gets from another one of its network
//	named.go      the pointers of new commits, for mirrors
//	read.go       the content of pointers, for pages, raw files and archives
//	store.go, storelock.go   the SQL, of the tables lfs_objects and lfs_locks
//
// An object is named by the SHA-256 of its content. A repository has an object if it has a row for it, and only those
// who see the repository may read it there. The name of an object opens nothing: who does not see a repository that has
// it gets a 404, and an upload must send all its bytes, even if another repository has them. Only repositories of one
// network share what was uploaded, for a person who sees both sides ([network.MayCross]), as Git's objects.
//
// The files are package file's, with one for each row. What is shared is a hard link, so every repository stands
// alone: its objects stay whatever happens to others. Each counts in the quota of its repository's owner, as files
// of releases and Git's objects in forks do; what a person without push access brings counts for that person.
//
// A lock is on a path, on all branches. Pushes, merges and changes by pages and the API are refused if they change it,
// unless the owner of the lock makes them.
//
// What becomes of objects and locks:
//
//	turned private or public      who sees the repository has its objects, at once; forks keep theirs; locks stay
//	forked                        the fork has all its parent's objects, and no locks
//	fork of a private repository  the same, for those who see the fork; withdrawn, nobody reads them there
//	pull request from a fork      what its commits point to comes along with them, and stays when the fork is deleted
//	renamed, transferred          they go with the repository; objects count for the new owner
//	archived                      objects can be read; nothing is uploaded, locked or unlocked
//	membership lost               tokens that were given out end; the person's locks stay, and whoever maintains
//	                              the repository may unlock by force; the same for a suspended person
//	account renamed               its locks show the new login
//	account deleted               its locks are gone; what it paid counts for the repository's owner
//	repository deleted            its objects and locks are gone; those of its forks stay
package lfs

import (
	"log/slog"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/repo"
	"arbor/internal/repo/transport"
)

// DefaultMaxObject is the size in bytes of the largest object by default: GitHub's largest.
const DefaultMaxObject = 5 << 30

// Service holds what the operations share.
type Service struct {
	db        *db.DB
	repos     *repo.Service
	files     *file.Store
	transport *transport.Service
	log       *slog.Logger

	MaxObject int64  // bytes of the largest object that is taken; 0: none is. Set before the service is used
	Key       []byte // signs tokens: the same on all nodes. Set before the service is used
}

// New returns the service.
func New(d *db.DB, repos *repo.Service, files *file.Store, t *transport.Service, log *slog.Logger) *Service {
	return &Service{db: d, repos: repos, files: files, transport: t, log: log, MaxObject: DefaultMaxObject}
}

// Object is a row of the table lfs_objects with its file.
type Object struct {
	ID   int64
	OID  string // the SHA-256 of its content, in hexadecimal digits
	Size int64  // in bytes
	File file.File

	CreatedAt db.Time
}

// isOID reports a name that an object can have.
func isOID(s string) bool {
	if len(s) != 64 {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

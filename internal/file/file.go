// Package file is the one store of files that are no Git objects: assets of releases, attachments, objects of Git
// LFS.
//
//	file.go    the type, receiving a file, and opening one
//	digest.go  the digest of a file, made while it is received
//	place.go   the data folder and depots: where new files go, and which ones a server may use
//	apart.go   no place twice, by two addresses
//	read.go    reading a file from either, with its digest compared
//	move.go    moving all files to another place
//	link.go    another name of a file, for another repository
//	take.go    taking in what a client sends, within the owner's quota
//	send.go    answering with a file
//	sum.go     digests of what is read
//	sweep.go   removing files without a row
//	store.go   the SQL, of the table files; storeplace.go: of the table depots
//
// A file lies below the data folder in files/ab/abcd..., under a random name of 32 hexadecimal
// digits: the feature's row holds its visible name. It is written next to its
// place, synced and renamed before the transaction that adds its row ([Store.Receive], then [Store.Add]),
// and never changes. With --objects, it is stored in a depot, with the same path as its key: it is received into
// the data folder, uploaded to the depot and removed from the folder, before the same transaction. Its row says
// where it is stored, so each file can be read while the files of the store are being moved, or if only some were
// moved. A row without a file is damage. A file without a row is a leftover of a failed upload, or of a deletion
// during which the server died. The sweep of repositories' folders (package repo) also sweeps the folders of files.
//
// What becomes of a file in a depot, and of a signed address that somebody was given for it ([Store.Direct]):
//
//	repository hidden, archived, renamed  it stays under its key; each request for it is checked as before, and a
//	  or transferred; membership lost;    signed address works until its five minutes are over
//	  account suspended; draft
//	repository, release, attachment or    it is removed after the commit, so signed addresses stop working; during a
//	  object deleted                      backup, or if the depot does not answer, the sweep removes it later
//	repository forked                     the fork's LFS objects are copies in the same depot
//	store backed up and restored          the backup holds a copy, which is restored to the new store's data folder
//
// A row belongs to a repository and goes with it. Its size counts in the quota of the repository's owner, or
// of the account that the row names (repo.Service.CountFile). [Store.Drop] removes rows; the transaction that
// deletes a whole repository calls [Store.Forget]. The files go after the commit.
package file

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/durable"
	"arbor/internal/repo"
)

// Folder is the name of the store's folder in the data folder.
const Folder = "files"

// shards is the number of folders that the files are in.
const shards = 256

// ID is the id of a file.
type ID int64

// File is a row of the table files.
type File struct {
	ID     ID
	RepoID repo.ID
	Name   string     // on the disk
	Size   int64      // in bytes
	SHA256 string     // of its content, in hexadecimal digits
	Payer  account.ID // the account that it counts for; 0: the repository's owner
	Depot  DepotID    // where it lies

	kept time.Time // when the depot had taken it, by this machine's clock; zero: it has a row, or lies in no depot
}

// KB is the size that counts in quotas, in KiB.
func (f *File) KB() int64 { return KB(f.Size) }

// KB rounds bytes up to KiB.
func KB(bytes int64) int64 { return (bytes + 1023) / 1024 }

// Store is the store of files.
type Store struct {
	db     *db.DB
	repos  *repo.Service
	log    *slog.Logger
	dir    string
	ending sync.WaitGroup // files being removed
	places places

	Metrics *depot.Metrics // nil: nothing is counted; set before the store is used
}

// New opens the store of a data folder.
func New(d *db.DB, repos *repo.Service, log *slog.Logger, dataDir string) *Store {
	return &Store{db: d, repos: repos, log: log, dir: filepath.Join(dataDir, Folder)}
}

var fileName = regexp.MustCompile(`^[0-9a-f]{32}$`)

// Path is where the file of a name is below the data folder, with slashes.
func Path(name string) string { return Folder + "/" + name[:2] + "/" + name }

// IsPath reports whether a path is one that Path returns.
func IsPath(path string) bool {
	name := filepath.Base(path)
	return fileName.MatchString(name) && path == Path(name)
}

// IsTemporary reports whether a path is that of a file that is being received.
func IsTemporary(path string) bool { return strings.HasPrefix(filepath.Base(path), durable.Temporary) }

func (s *Store) path(name string) string { return filepath.Join(s.dirOf(name), name) }

func (s *Store) dirOf(name string) string { return filepath.Join(s.dir, name[:2]) }

// Receive stores a file of at most most bytes durably. The file has no row yet: call Add or Discard. check is
// called from time to time to check that there is enough disk space; it may be nil. Errors: ErrSize; those of from
// and check; 503 if the depot does not answer. After an error, nothing of the file remains.
func (s *Store) Receive(ctx context.Context, from io.Reader, most int64, check func() error) (*File, error) {
	f := &File{Name: newName()}
	id, to, err := s.current(ctx)
	if err != nil {
		return nil, err
	}
	f.Depot = id
	dir := s.dirOf(f.Name)
	if err := s.makeDir(dir); err != nil {
		return nil, err
	}
	out, err := os.CreateTemp(dir, durable.Temporary)
	if err != nil {
		return nil, err
	}
	err = f.fill(ctx, out, from, most, check)
	if err == nil && to == nil {
		err = out.Sync()
	}
	if err == nil {
		err = s.keep(ctx, f, out, to)
	}
	if err = errors.Join(err, out.Close()); err != nil || to != nil {
		err = errors.Join(err, ignoreMissing(os.Remove(out.Name())))
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// ErrSize says that a file is larger than it may be.
var ErrSize = errors.New("file: it is too large")

// fill copies the input to the file. A goroutine computes the digest concurrently,
// which takes as long as the rest.
func (f *File) fill(ctx context.Context, out *os.File, from io.Reader, most int64, check func() error) error {
	to := durable.NewWriter(out)
	digest := newDigest()
	defer digest.sum()
	for {
		buffer := digest.buffer()
		n, err := from.Read(buffer)
		if f.Size += int64(n); f.Size > most {
			return ErrSize
		}
		digest.add(buffer[:n])
		if _, err := to.Write(buffer[:n]); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			f.SHA256 = digest.sum()
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err == nil && check != nil {
			err = check()
		}
		if err != nil {
			return err
		}
	}
}

// Add adds the row of a received file to its repository, whose row is locked, and counts it. Error: 403
// for the quota in which it counts.
func (s *Store) Add(tx *db.Tx, repoID repo.ID, f *File) error {
	f.RepoID = repoID
	if err := s.repos.CountFile(tx, repoID, f.Payer, f.KB()); err != nil {
		return err
	}
	return insert(tx, f)
}

// Discard removes a received file whose row was not added. It is not called after db.ErrOutcomeUnknown,
// when the row may exist: then the file stays until the sweep.
func (s *Store) Discard(ctx context.Context, f *File) {
	s.remove(context.WithoutCancel(ctx), []location{f.location()})
}

// newName creates a name that no file has.
func newName() string {
	var b [16]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// makeDir creates a folder of files durably. An existing one may be from another upload, which
// has not synced it yet.
func (s *Store) makeDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(durable.Sync(s.dir), durable.Sync(filepath.Dir(s.dir)))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Package remote is the part of an import from another server that does not depend on the kind of server: an
// HTTP client with limits, the folder of records, the Git mirror with LFS objects, and the people that
// records name.
//
//	address.go   addresses of repositories and organizations
//	client.go    one request after another, with the server's rate limits, bounds and redirects
//	steady.go    answers must keep coming
//	list.go      lists, page after page, and lists that are turned round on disk
//	answer.go    answers that several kinds of servers have, and their records
//	source.go    [Source]: the folder of records, and the mirror
//	lfs.go       objects of Git LFS, and other files
//	pull.go      sizes of pull requests, and the places of comments on lines
//	rule.go      the bodies of protections
//	file.go      media types
//	people.go    whom the records name
//
// Records are first written to a temporary folder in the format of an export, which package migration can
// read. So an import does not wait for the server, and its order does not depend on the order of requests.
// Git is mirrored next to that folder. Contents of files are requested when the import reads them.
package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"arbor/internal/git"
	"arbor/internal/hook/outgoing"
	"arbor/internal/lfs"
	"arbor/internal/migration"
)

// Options say how to read.
type Options struct {
	Token    string // of somebody who administers the repository; empty: what everybody sees
	Git      *git.Git
	Dir      string       // for what is read, which may be large
	Room     func() error // whether the disk has room for more; nil: it is not asked
	Progress func(part string, done, all int64)

	// Set for an address that a user gave; nil: the operator gave it, so git runs with the operator's configuration
	// and every network may be reached.
	Bounds *Bounds
}

// Bounds are those of reading from an address that a user gave.
type Bounds struct {
	Networks outgoing.Networks // internal networks that may be reached
	Answer   int64             // bytes of one answer that is decoded
	Answers  int64             // bytes of all of them
	Refs     int               // branches, tags and heads of pull requests
	Room     func() error      // asked while objects come; its error ends the copy. nil: not asked
}

// Source is the part of a [migration.Source] that does not depend on the kind of server.
type Source struct {
	*migration.Folder
	*Client
	People People
	Out    *migration.Spool // takes the records
	Mirror *git.Mirror      // nil until Clone

	dir      string
	clone    string // the address of the repository for git
	left     []string
	files    map[string]lfs.Pointer // LFS objects, by path
	branches map[string]git.SHA     // of the mirror, by name of the ref; nil: not asked for yet
	labels   map[string]bool        // those written, by folded name
}

// NewSource returns a Source without records: see [Source.Read].
func NewSource(c *Client) *Source {
	return &Source{Client: c, People: People{}, files: map[string]lfs.Pointer{}, labels: map[string]bool{}}
}

// Read creates the folder, calls read, which writes all records to Out, and opens the folder. It removes the
// folder after an error.
func (s *Source) Read(ctx context.Context, read func(context.Context) (*migration.Repository, error)) (err error) {
	if err := os.MkdirAll(s.o.Dir, 0o700); err != nil {
		return err
	}
	// The sweep that removes the leftovers of killed mirrors also removes this folder.
	if s.dir, err = os.MkdirTemp(s.o.Dir, "mirror-records-"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	dir := filepath.Join(s.dir, "records")
	if s.Out, err = migration.NewSpool(dir); err != nil {
		return err
	}
	about, err := read(ctx)
	if err != nil {
		return errors.Join(err, s.Out.Discard())
	}
	if err := s.Out.Close(about); err != nil {
		return err
	}
	s.Folder, err = migration.OpenFolder(dir)
	return err
}

// Parts are the parts of what is read, with the names that progress and errors give them.
type Parts = []struct {
	Name string
	Read func(context.Context) error
}

// ReadParts reads one part after another.
func (s *Source) ReadParts(ctx context.Context, parts Parts) error {
	for _, part := range parts {
		s.Progress("read "+part.Name, 0, 0)
		if err := part.Read(ctx); err != nil {
			return fmt.Errorf("%s: %w", part.Name, err)
		}
	}
	return nil
}

// Progress says how far the reading is.
func (s *Source) Progress(part string, done, all int64) { s.o.Progress(part, done, all) }

// Close removes what was read.
func (s *Source) Close() (err error) {
	if s.Folder != nil {
		err = s.Folder.Close()
	}
	if s.Mirror != nil {
		err = errors.Join(err, s.Mirror.Remove())
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}

// Left says what could not be read, and why.
func (s *Source) Left() []string { return s.left }

// maxLeft is how many lines Left has at most.
const maxLeft = 10_000

// Leave adds a line to Left.
func (s *Source) Leave(format string, args ...any) {
	switch {
	case len(s.left) < maxLeft:
		s.left = append(s.left, fmt.Sprintf(format, args...))
	case len(s.left) == maxLeft:
		s.left = append(s.left, "and more")
	}
}

// Clone mirrors Git from an address on the server. A repository may be empty; then the mirror has no refs.
func (s *Source) Clone(ctx context.Context, address string) error {
	from, err := url.Parse(address)
	if err != nil || from.Host != s.Base.Host || from.Scheme != s.Base.Scheme {
		return fmt.Errorf("the server says that the repository is at %q, which is not on %s", address, s.Base.Host)
	}
	s.clone = address
	if s.o.Bounds != nil {
		return s.cloneBounded(ctx, from)
	}
	source := git.Source{Address: address, Authorization: s.Basic()}
	s.Mirror, err = s.o.Git.Mirror(ctx, source, s.o.Dir, s.o.Progress)
	return err
}

// cloneBounded is Clone for an address that a user gave.
func (s *Source) cloneBounded(ctx context.Context, from *url.URL) error {
	r := git.Remote{Room: s.o.Bounds.Room, Address: from.String(), Host: from.Hostname(), Port: from.Port()}
	if r.Port == "" {
		r.Port = map[string]string{"http": "80", "https": "443"}[from.Scheme]
	}
	if s.o.Token != "" {
		r.Username, r.Password = tokenUser, s.o.Token
	}
	var err error
	if r.Pinned, err = s.o.Bounds.Networks.Resolve(ctx, r.Host); err != nil {
		return err
	}
	s.Progress("fetch", 0, 0)
	s.Mirror, err = s.o.Git.MirrorRemote(ctx, r, s.o.Dir, s.o.Bounds.Refs)
	return err
}

// Git returns the path of the mirror.
func (s *Source) Git(context.Context) (string, error) {
	if len(s.Mirror.Refs().List) == 0 {
		return "", nil
	}
	return s.Mirror.Dir(), nil
}

// Objects returns the mirror's objects.
func (s *Source) Objects() *git.Repository { return s.o.Git.Repository(s.Mirror.Dir()) }

// AddPeople writes the people that records name. Call it last.
func (s *Source) AddPeople(context.Context) error {
	if len(s.People) == maxPeople {
		s.Leave("people behind the first %d: what they made is nobody's", maxPeople)
	}
	for _, person := range s.People.Sorted() {
		if err := s.Out.Add(migration.People, person); err != nil {
			return err
		}
	}
	return nil
}

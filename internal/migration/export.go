package migration

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/repo"
)

// Names of files in an export. The records of a kind are in a file of its own, see recordsFile.
const (
	repositoryFile = "repository.json"
	bundleFile     = "git.bundle"
)

// recordsFile is the name of the file with the records of a kind.
func recordsFile(k Kind) string { return string(k) + ".jsonl" }

// ExportOptions say what an export tells about its source.
type ExportOptions struct {
	Address  string // of this server, such as https://code.example.org; empty: unknown
	Progress func(part string, done, all int64)
}

// exporter writes the records of one repository, as they are in one snapshot.
type exporter struct {
	ctx    context.Context
	tx     *db.Tx
	a      *repo.Access
	to     Sink
	o      ExportOptions
	counts map[Kind]int64

	people     map[string]bool // whom records name
	labels     map[int64]string
	milestones map[int64]int64
	accounts   map[account.ID]string
	teams      map[int64]string
	actors     actorNames         // of rules
	asked      map[int64][]string // for reviews, by the number of the pull request
	refs       []git.Ref
	files      []stored // whose contents are copied after the snapshot
}

// stored is a file that an export contains.
type stored struct {
	path string
	file file.File
}

// Export writes a repository with its whole history. Rows are read in one snapshot; then the files and objects that
// they name are copied.
func (s *Service) Export(ctx context.Context, a *repo.Access, to Sink, o ExportOptions) (map[Kind]int64, error) {
	objects, release, err := s.Repos.GitOf(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	// The function may run again, so it writes into a folder of its own each time.
	spool, err := os.MkdirTemp("", "arbor-export-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(spool)
	var e *exporter
	var about *Repository
	runs := 0
	err = s.DB.ReadLong(ctx, func(tx *db.Tx) (err error) {
		runs++
		e = &exporter{ctx: ctx, tx: tx, a: a, to: &folderSink{filepath.Join(spool, strconv.Itoa(runs))}, o: o,
			counts: map[Kind]int64{}, people: map[string]bool{}}
		about, err = e.rows()
		return err
	})
	if err != nil {
		return nil, err
	}
	e.to = to
	for _, k := range Kinds {
		if e.counts[k] > 0 {
			if err := e.copyRecords(filepath.Join(spool, strconv.Itoa(runs)), k); err != nil {
				return nil, err
			}
		}
	}
	if len(e.refs) > 0 {
		o.Progress("git", 0, 0)
		if err := e.create(bundleFile, func(w io.Writer) error { return objects.WriteBundle(ctx, w, e.refs) }); err != nil {
			return nil, err
		}
	}
	for n, f := range e.files {
		o.Progress("files", int64(n), int64(len(e.files)))
		if err := s.exportFile(e, f); err != nil {
			return nil, err
		}
	}
	about.Records = e.counts
	if err := writeRepository(to, about); err != nil {
		return nil, err
	}
	return e.counts, to.Close()
}

// copyRecords copies the file of a kind, once the snapshot is read.
func (e *exporter) copyRecords(spool string, k Kind) error {
	in, err := os.Open(filepath.Join(spool, recordsFile(k)))
	if err != nil {
		return err
	}
	defer in.Close()
	return e.create(recordsFile(k), func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// exportFile copies the content of a file.
func (s *Service) exportFile(e *exporter, f stored) error {
	in, err := s.Files.Open(e.ctx, &f.file)
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	defer in.Close()
	return e.create(f.path, func(w io.Writer) error {
		n, err := io.Copy(w, in)
		if err == nil && n != f.file.Size {
			err = fmt.Errorf("%s has %d bytes, not %d", f.path, n, f.file.Size)
		}
		return err
	})
}

// create writes a file.
func (e *exporter) create(path string, write func(w io.Writer) error) error {
	out, err := e.to.Create(path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	err = write(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

// rows writes the records of all kinds, people last, since the others name them.
func (e *exporter) rows() (*Repository, error) {
	if err := e.load(); err != nil {
		return nil, err
	}
	about, err := e.repository()
	if err != nil {
		return nil, err
	}
	for n, k := range append(Kinds[1:len(Kinds):len(Kinds)], People) {
		e.o.Progress(string(k), int64(n), int64(len(Kinds)))
		if err := e.records(k); err != nil {
			return nil, fmt.Errorf("%s: %w", k, err)
		}
	}
	return about, nil
}

// records writes the file of a kind. A kind without records has no file.
func (e *exporter) records(k Kind) (err error) {
	w := &recordWriter{to: e.to, name: recordsFile(k)}
	if k == People {
		err = e.eachPerson(func(p *Person) error { return w.add(p) })
	} else {
		q := e.query(k)
		err = db.QueryEach(e.tx, func(row db.Scanner) error {
			r, err := q.read(row)
			if err != nil {
				return err
			}
			return w.add(r)
		}, q.sql, q.args...)
	}
	e.counts[k] = w.n
	return errors.Join(err, w.close())
}

// recordWriter writes records, a line each. It creates the file with the first.
type recordWriter struct {
	to       Sink
	name     string
	n        int64
	file     io.WriteCloser
	buffered *bufio.Writer
	out      *json.Encoder
}

func (w *recordWriter) add(r Record) (err error) {
	if w.file == nil {
		if w.file, err = w.to.Create(w.name); err != nil {
			return err
		}
		w.buffered = bufio.NewWriter(w.file)
		w.out = json.NewEncoder(w.buffered)
		w.out.SetEscapeHTML(false)
	}
	w.n++
	return w.out.Encode(r)
}

func (w *recordWriter) close() error {
	if w.file == nil {
		return nil
	}
	return errors.Join(w.buffered.Flush(), w.file.Close())
}

// named notes that a record names somebody, and returns the login; "" for ghost and nobody.
func (e *exporter) named(login *string) string {
	if login == nil || *login == "ghost" {
		return ""
	}
	e.people[*login] = true
	return *login
}

// at is a time of a record.
func at(t db.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return t.Time().UTC()
}

package migration

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Source is where an import reads the records of one repository: an export in a folder, or another server.
type Source interface {
	// Repository returns what is said about the repository itself.
	Repository(ctx context.Context) (*Repository, error)
	// Records calls fn with each record of a kind, a pointer to its type, in the order in which they are to be numbered:
	// issues by number, others as they came into being. For a record that cannot be read it calls fn with an error that
	// says which it is, and goes on. An error of fn ends it.
	Records(ctx context.Context, k Kind, fn func(r Record, err error) error) error
	// Git returns what git clone --mirror can read, a path or an address; empty: the repository has no refs. Heads of pull
	// requests are refs/pull/N/head.
	Git(ctx context.Context) (string, error)
	// Open opens the content of a File.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
	// Left returns one line for each thing that the source has but did not return, with the reason.
	Left() []string
}

// maxLine is the size of the longest record in bytes.
const maxLine = 4 << 20

// Folder is a Source: a folder that Export wrote. It is read only through its root, so no path or link in it leads out.
type Folder struct {
	dir    string
	root   *os.Root
	bundle string // a temporary folder with a copy of the bundle; empty: there is none
}

// OpenFolder opens an export.
func OpenFolder(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &Folder{dir: dir, root: root}, nil
}

// Close closes the folder, and removes what Git made.
func (f *Folder) Close() error {
	var err error
	if f.bundle != "" {
		err = os.RemoveAll(f.bundle)
	}
	return errors.Join(err, f.root.Close())
}

// Left returns nothing: an export is whole.
func (f *Folder) Left() []string { return nil }

// Repository reads repository.json.
func (f *Folder) Repository(context.Context) (*Repository, error) {
	in, err := f.root.Open(repositoryFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s has no %s: it is not an export, or one that did not end", f.dir, repositoryFile)
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return readRepository(in)
}

func readRepository(in io.Reader) (*Repository, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxLine))
	if err != nil {
		return nil, err
	}
	var version struct {
		Format int `json:"format"`
	}
	if err := json.Unmarshal(text, &version); err != nil {
		return nil, fmt.Errorf("%s: %w", repositoryFile, err)
	}
	if version.Format != Format {
		return nil, fmt.Errorf("%s: format %d is unknown to this program, which reads format %d", repositoryFile,
			version.Format, Format)
	}
	var r Repository
	if err := json.Unmarshal(withoutNUL(text), &r); err != nil {
		return nil, fmt.Errorf("%s: %w", repositoryFile, err)
	}
	return &r, r.check()
}

// Records reads the file of a kind, which is missing if there are none.
func (f *Folder) Records(ctx context.Context, k Kind, fn func(Record, error) error) error {
	in, err := f.root.Open(recordsFile(k))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	return readRecords(ctx, in, k, fn)
}

// readRecords reads records, a line each.
func readRecords(ctx context.Context, in io.Reader, k Kind, fn func(Record, error) error) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(lines)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errLong) {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(strings.TrimSpace(string(line))) == 0 && err == nil {
			continue
		}
		r := newRecord(k)
		bad := err
		if bad == nil || errors.Is(bad, io.EOF) {
			bad = json.Unmarshal(withoutNUL(line), r)
		}
		if bad != nil && errors.Is(err, io.EOF) {
			bad = fmt.Errorf("the file ends in the middle of a record: %w", bad)
		}
		if bad != nil {
			r, bad = nil, fmt.Errorf("%s line %d: %w", recordsFile(k), n, bad)
		}
		if err := fn(r, bad); err != nil {
			return err
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
}

// withoutNUL replaces escaped NUL characters, which no database takes, by U+FFFD.
func withoutNUL(text []byte) []byte {
	const nul, unknown = `\u0000`, `\ufffd`
	for at := 0; ; {
		n := bytes.Index(text[at:], []byte(nul))
		if n < 0 {
			return text
		}
		at += n
		slashes := 0
		for at > slashes && text[at-slashes-1] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			copy(text[at:], unknown)
		}
		at += len(nul)
	}
}

var errLong = fmt.Errorf("the record is longer than %d bytes", maxLine)

// readLine reads a line. Error: io.EOF with what stands behind the last newline; errLong for one that was skipped.
func readLine(in *bufio.Reader) (line []byte, err error) {
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLong
		default:
			return line, err
		}
	}
}

// Git returns the path of a copy of the bundle, which exists until Close. git would also accept a file that refers
// to another repository, or a repository in the same folder. So Git checks that the file begins like a bundle, and
// copies it into an empty folder.
func (f *Folder) Git(ctx context.Context) (string, error) {
	in, err := f.Open(ctx, bundleFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer in.Close()
	text := bufio.NewReader(in)
	if first, _ := text.Peek(len("# v2 git bundle\n")); string(first) != "# v2 git bundle\n" &&
		string(first) != "# v3 git bundle\n" {
		return "", fmt.Errorf("%s is not a bundle of git", bundleFile)
	}
	if f.bundle, err = os.MkdirTemp("", "arbor-import-"); err != nil {
		return "", err
	}
	path := filepath.Join(f.bundle, bundleFile)
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, text)
	return path, errors.Join(err, out.Close())
}

// Open opens a file of the export.
func (f *Folder) Open(_ context.Context, path string) (io.ReadCloser, error) {
	in, err := f.root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	if info, err := in.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("%q is not a file", path), err, in.Close())
	}
	return in, nil
}

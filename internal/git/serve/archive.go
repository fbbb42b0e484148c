package serve

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"arbor/internal/durable"
	"arbor/internal/git"
	"arbor/internal/git/catfile"
	"arbor/internal/git/process"
)

// ArchiveFormat is how an archive is packed.
type ArchiveFormat string

// The formats of archives.
const (
	TarGz ArchiveFormat = "tar.gz"
	Zip   ArchiveFormat = "zip"
)

// Archive writes the files of a commit to w while git packs them, each below
// the folder of the prefix, which ends in a slash and must be one of ours.
// Bounded by git.Options.TransferTimeout. Errors: Canceled when the client went
// away, Unavailable past the deadline.
//
// Files are as they are stored: no attribute of a tree changes one, but those
// that it marks as export-ignore are left out.
func Archive(
	ctx context.Context, r *git.Repository, w io.Writer, commit git.SHA, f ArchiveFormat, prefix string,
) error {
	if err := writeAttributes(r); err != nil {
		return err
	}
	p, out, err := r.Transfer(ctx, process.Task{Command: process.Command{Sub: "archive",
		Flags: []string{"--format=" + string(f), "--prefix=" + prefix}, Revs: []git.SHA{commit}}})
	if err != nil {
		return err
	}
	process.GrowPipe(out)
	if _, err := copyOut(w, out); err != nil {
		_ = p.Stop()
		return err
	}
	return p.Wait()
}

// attributes overrule the attributes in trees. By these git would substitute a whole
// history for 20 bytes, have gpg check signatures, and write files in other encodings.
const attributes = "* -export-subst -ident -text -crlf -eol -working-tree-encoding -filter\n"

// writeAttributes puts them where git looks first, unless they are there.
func writeAttributes(r *git.Repository) error {
	file := filepath.Join(r.Dir(), "info", "attributes")
	if now, err := os.ReadFile(file); err == nil && string(now) == attributes {
		return nil
	}
	if !r.Exists() {
		return catfile.Missing("HEAD")
	}
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.Replace(file, func(f *os.File) error {
		_, err := f.WriteString(attributes)
		return err
	})
}

package git

import (
	"context"
	"io"
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
// Bounded by Options.TransferTimeout. Errors: Canceled when the client went
// away, Unavailable past the deadline.
func (r *Repository) Archive(ctx context.Context, w io.Writer, commit SHA, f ArchiveFormat, prefix string) error {
	p, out, err := r.git.read(ctx, task{
		command: command{sub: "archive", flags: []string{"--format=" + string(f), "--prefix=" + prefix}, revs: []SHA{commit}},
		dir:     r.dir, cage: r.blobCage(), limit: r.git.options.TransferTimeout})
	if err != nil {
		return err
	}
	growPipe(out)
	if _, err := copyOut(w, out); err != nil {
		_ = p.stop()
		return err
	}
	return p.wait()
}

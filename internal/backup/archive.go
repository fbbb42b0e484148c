package backup

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// archive is a backup in a stream: a tar file, whose last entry is the manifest. Other
// entries are found by their digests; their names only tell people what they are.
type archive struct {
	mu      sync.Mutex
	out     *tar.Writer
	scratch string // a folder of this process
}

// ToStream writes a backup to a stream.
func ToStream(ctx context.Context, from Source, to io.Writer) (*Manifest, error) {
	scratch, err := os.MkdirTemp("", "arbor-backup-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	return (&save{Source: from, to: &archive{out: tar.NewWriter(to), scratch: scratch}}).run(ctx)
}

func (a *archive) place() string { return "" }

func (a *archive) spool() string { return a.scratch }

func (a *archive) has(*File) bool { return false }

func (a *archive) put(from io.Reader, f *File) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	err := a.out.WriteHeader(&tar.Header{Name: f.Path, Size: f.Size, Mode: 0o600,
		ModTime: time.Unix(0, f.Modified)})
	if err != nil {
		return err
	}
	sum := sha256.New()
	_, err = io.CopyN(io.MultiWriter(a.out, sum), from, f.Size)
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return err
}

func (a *archive) keep(spooled *os.File, f *File) error {
	if _, err := spooled.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return a.put(spooled, f)
}

func (a *archive) finish(_ context.Context, m *Manifest) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	f := File{Path: manifestFile, Size: int64(len(text)), Modified: m.At.UnixNano()}
	return errors.Join(a.put(bytes.NewReader(text), &f), a.out.Close())
}

// maxManifest bounds what is read of a manifest into memory, in bytes.
const maxManifest = 4 << 30

// unpack turns a backup in a stream into one in a folder. A file's place is decided by its
// digest, not by its name.
func unpack(ctx context.Context, from io.Reader, dir string) error {
	t := &folder{dir: dir, earlier: map[string]File{}, held: map[string]bool{}}
	if err := t.prepare(); err != nil {
		return err
	}
	for in := tar.NewReader(from); ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := in.Next()
		switch {
		case err == io.EOF:
			return fmt.Errorf("%w: it has no manifest", ErrDamaged)
		case err != nil:
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		case h.Typeflag != tar.TypeReg:
			return fmt.Errorf("%w: %q in it is not a file", ErrDamaged, h.Name)
		case h.Name != manifestFile:
			if err := t.put(in, &File{Size: h.Size}); errors.Is(err, io.ErrUnexpectedEOF) {
				return fmt.Errorf("%w: %w", ErrDamaged, err)
			} else if err != nil {
				return fmt.Errorf("unpack the backup: %w", err)
			}
			continue
		}
		text, err := io.ReadAll(io.LimitReader(in, maxManifest))
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if _, err := io.Copy(io.Discard, from); err != nil { // so that the writer sees no closed pipe
			return err
		}
		return os.WriteFile(filepath.Join(dir, manifestFile), text, 0o600)
	}
}

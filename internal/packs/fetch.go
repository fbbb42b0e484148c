package packs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"arbor/internal/db"
	"arbor/internal/depot"
	"arbor/internal/git"
	"arbor/internal/git/packfile"
)

// errGone says that a pack was removed since its row was read.
var errGone = errors.New("packs: a pack was replaced in the meantime")

// fetchTries is how often fetch downloads a pack at most, if the bytes do not match its digest.
const fetchTries = 3

// fetch gets a pack from its depot and moves it into the folder.
func (s *Service) fetch(
	ctx context.Context, room *reservation, objects *git.Repository, name string, f *packFile,
) error {
	var err error
	for range fetchTries {
		if err = s.fetchOnce(ctx, room, objects, name, f); !errors.Is(err, depot.ErrDamaged) {
			break
		}
	}
	if !errors.Is(err, depot.ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there, askErr := s.isListed(ctx, f)
	if askErr != nil {
		return askErr
	}
	if !there {
		return errGone
	}
	return s.reportDamage(ctx, f, err)
}

// reportDamage logs that a depot does not have the bytes of a pack, and returns the 503.
func (s *Service) reportDamage(ctx context.Context, f *packFile, cause error) error {
	s.files.Metrics.Damaged()
	s.log.ErrorContext(ctx, "a pack in the storage of --objects is missing or altered; arbor objects verify names the "+
		"repositories", "key", keyPath(f.key), "error", cause)
	return depot.Unavailable(cause)
}

// isListed reports whether a folder has a file where its row said. A file that none has any longer leaves its depot before
// its row.
func (s *Service) isListed(ctx context.Context, f *packFile) (is bool, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT EXISTS (SELECT 1 FROM pack_files f WHERE id = $1 AND depot_id = $2 AND `+isNamed+`)`, f.id, f.depot).
			Scan(&is)
	})
	return is, err
}

func (s *Service) fetchOnce(
	ctx context.Context, room *reservation, objects *git.Repository, name string, f *packFile,
) error {
	from, err := s.files.Depot(ctx, f.depot)
	if err != nil {
		return err
	}
	out, err := newParts(room, objects, f)
	if err != nil {
		return err
	}
	defer out.drop()
	sum := sha256.New()
	if f.size() <= window {
		err = s.copyRange(ctx, from, f, io.MultiWriter(out.at(0), sum), 0, f.size())
	} else {
		if err = s.fetchWindows(ctx, from, f, out); err == nil {
			_, err = io.Copy(sum, out.reader())
		}
	}
	if err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.sha256 {
		return fmt.Errorf("%w: the SHA-256 differs", depot.ErrDamaged)
	}
	s.counters.fetched.WithLabelValues(fromDepot).Inc()
	return out.place(objects, name)
}

// Large packs are fetched in windows, some at one time.
const (
	window  = 16 << 20
	windows = 4
)

func (s *Service) fetchWindows(ctx context.Context, from *depot.Depot, f *packFile, out *parts) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(windows)
	for at := int64(0); at < f.size(); at += window {
		g.Go(func() error {
			return s.copyRange(ctx, from, f, out.at(at), at, min(at+window, f.size()))
		})
	}
	return g.Wait()
}

func (s *Service) copyRange(
	ctx context.Context, from *depot.Depot, f *packFile, to io.Writer, at, end int64,
) error {
	in, err := from.Get(ctx, keyPath(f.key), at, end, f.size())
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.CopyBuffer(to, struct{ io.Reader }{in}, make([]byte, 256<<10))
	return err
}

// placeInline writes a pack that lies in the database into the folder.
func (s *Service) placeInline(room *reservation, objects *git.Repository, name string, f *packFile) error {
	if f.data == nil {
		return errGone
	}
	sum := sha256.Sum256(f.data)
	if int64(len(f.data)) != f.size() || hex.EncodeToString(sum[:]) != f.sha256 {
		return fmt.Errorf("packs: the row of pack %d is damaged", f.id)
	}
	out, err := newParts(room, objects, f)
	if err != nil {
		return err
	}
	defer out.drop()
	if _, err := io.Copy(out.at(0), bytes.NewReader(f.data)); err != nil {
		return err
	}
	s.counters.fetched.WithLabelValues(fromDatabase).Inc()
	return out.place(objects, name)
}

// compare reads a pack whole from where it is, and compares it with its digest.
func (s *Service) compare(ctx context.Context, f *packFile) error {
	sum := sha256.New()
	if f.depot == 0 {
		one := *f
		err := s.db.Read(ctx, func(tx *db.Tx) error { return readData(tx, []*packFile{&one}) })
		if err != nil {
			return err
		}
		sum.Write(one.data)
	} else {
		from, err := s.files.Depot(ctx, f.depot)
		if err == nil {
			err = s.copyRange(ctx, from, f, sum, 0, f.size())
		}
		if err != nil {
			return err
		}
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.sha256 {
		return fmt.Errorf("%w: %s", depot.ErrDamaged, keyPath(f.key))
	}
	return nil
}

// parts are the temporary files of a pack that is being written.
type parts struct {
	files   []*os.File // pack, reverse index, index
	ends    []int64
	room    *reservation
	written atomic.Int64 // bytes that drop removes
}

// newParts creates temporary files for a pack in the folder of packs, under names that git ignores.
func newParts(room *reservation, objects *git.Repository, f *packFile) (*parts, error) {
	p, end := &parts{room: room}, int64(0)
	for _, size := range []int64{f.packSize, f.reverseSize, f.indexSize} {
		out, err := os.CreateTemp(objects.PacksDir(), packfile.TmpPack)
		if err != nil {
			p.drop()
			return nil, fmt.Errorf("packs: %v", err) //nolint:errorlint // not a missing object
		}
		end += size
		p.files, p.ends = append(p.files, out), append(p.ends, end)
	}
	return p, nil
}

// at returns a writer that starts at an offset of the whole pack, and continues across its files.
func (p *parts) at(offset int64) io.Writer { return &partsWriter{p, offset} }

type partsWriter struct {
	p      *parts
	offset int64
}

func (w *partsWriter) Write(b []byte) (n int, err error) {
	begin := int64(0)
	for i, end := range w.p.ends {
		if w.offset < end && n < len(b) {
			m, err := w.p.files[i].WriteAt(b[n:min(int64(len(b)), int64(n)+end-w.offset)], w.offset-begin)
			n += m
			w.offset += int64(m)
			w.p.written.Add(int64(m))
			w.p.room.wrote(int64(m))
			if err != nil {
				return n, err
			}
		}
		begin = end
	}
	if n < len(b) {
		return n, fmt.Errorf("%w: it is too long", depot.ErrDamaged)
	}
	return n, nil
}

// reader reads the files one behind the other.
func (p *parts) reader() io.Reader {
	var all multiReaderAt
	begin := int64(0)
	for i, end := range p.ends {
		all.add(p.files[i], end-begin)
		begin = end
	}
	return io.NewSectionReader(&all, 0, begin)
}

// place moves the files into the folder.
func (p *parts) place(objects *git.Repository, name string) error {
	files := packfile.Files{Name: name, Pack: p.files[0].Name(), Index: p.files[2].Name()}
	if p.ends[1] > p.ends[0] {
		files.Reverse = p.files[1].Name()
	}
	for _, f := range p.files {
		if err := f.Chmod(0o400); err != nil {
			return err
		}
	}
	if err := objects.Place(files); err != nil {
		return fmt.Errorf("packs: %v", err) //nolint:errorlint // not a missing object
	}
	p.written.Store(0)
	return nil
}

// drop closes the files, and removes those that were not placed.
func (p *parts) drop() {
	p.room.wrote(-p.written.Load())
	for _, f := range p.files {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}

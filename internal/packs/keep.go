package packs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"arbor/internal/db"
	"arbor/internal/file"
	"arbor/internal/git/packfile"
	"arbor/internal/repo"
)

// keeper keeps the packs of one folder. It implements git.Keeper.
type keeper struct {
	s *Service
	c *cached
}

// Add implements git.Keeper. Errors: 503 for a depot that does not answer.
func (k keeper) Add(ctx context.Context, p packfile.Files) error {
	if info, err := os.Stat(p.Pack); err != nil {
		return err
	} else if info.Size() > maxInline { // avoid an upload that is not needed
		there, err := k.s.find(ctx, k.c.folder, p.Name)
		if err != nil || there != nil {
			return err
		}
	}
	f, err := k.s.store(ctx, p, k.inlineRoom())
	if err != nil {
		return err
	}
	var after int64
	kept := time.Now()
	err = k.s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) (err error) {
		if err := file.CheckAge(tx, kept); err != nil && f.depot != 0 {
			return err
		}
		if after, err = incrementGeneration(tx, k.c.folder); err != nil {
			return err
		}
		return addPack(tx, k.c.folder, p.Name, f)
	})
	if err != nil {
		return err // the sweep removes the uploaded file
	}
	inline := int64(0)
	if f.depot == 0 {
		inline = f.size()
	}
	k.c.added(p.Name, f.packSize, f.size(), inline, after)
	return nil
}

func (k keeper) inlineRoom() bool {
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	return k.c.inline < maxInlines
}

// store stores a pack durably: a small one in memory for its future row if inline is true, any other one in the
// depot.
func (s *Service) store(ctx context.Context, p packfile.Files, inline bool) (*packFile, error) {
	f := &packFile{key: newKey()}
	parts, err := f.open(p)
	if err != nil {
		return nil, err
	}
	defer parts.close()
	whole := io.NewSectionReader(parts, 0, f.size())
	sum := sha256.New()
	if inline && f.size() <= maxInline {
		f.data = make([]byte, f.size())
		if _, err := io.ReadFull(whole, f.data); err != nil {
			return nil, err
		}
		sum.Write(f.data)
		f.sha256 = hex.EncodeToString(sum.Sum(nil))
		return f, nil
	}
	if _, err := io.Copy(sum, whole); err != nil {
		return nil, err
	}
	f.sha256 = hex.EncodeToString(sum.Sum(nil))
	id, to, err := s.files.Place(ctx)
	if err == nil && to == nil {
		err = errors.New("packs: new packs no longer go to a depot, but to the data folder: restart the server")
	}
	if err != nil {
		return nil, err
	}
	f.depot = id
	return f, to.Put(ctx, keyPath(f.key), parts, f.size())
}

// open opens the files of a pack, and sets the sizes.
func (f *packFile) open(p packfile.Files) (*multiReaderAt, error) {
	parts := &multiReaderAt{}
	for _, part := range p.Parts() {
		in, err := os.Open(part.Path)
		if err != nil {
			parts.close()
			return nil, err
		}
		parts.opened = append(parts.opened, in)
		info, err := in.Stat()
		if err != nil {
			parts.close()
			return nil, err
		}
		parts.add(in, info.Size())
		switch part.Extension {
		case ".pack":
			f.packSize = info.Size()
		case ".rev":
			f.reverseSize = info.Size()
		case ".idx":
			f.indexSize = info.Size()
		}
	}
	return parts, nil
}

// isWhole reports whether files on this disk have the same digest as the stored pack.
func isWhole(p packfile.Files, f *packFile) (bool, error) {
	var there packFile
	parts, err := there.open(p)
	if err != nil {
		return false, err
	}
	defer parts.close()
	sum := sha256.New()
	_, err = io.Copy(sum, io.NewSectionReader(parts, 0, there.size()))
	return hex.EncodeToString(sum.Sum(nil)) == f.sha256, err
}

// multiReaderAt reads several files as if they were one.
type multiReaderAt struct {
	files  []io.ReaderAt
	ends   []int64
	opened []*os.File // to be closed
}

func (j *multiReaderAt) close() {
	for _, f := range j.opened {
		_ = f.Close()
	}
}

func (j *multiReaderAt) add(in io.ReaderAt, size int64) {
	if n := len(j.ends); n > 0 {
		size += j.ends[n-1]
	}
	j.files, j.ends = append(j.files, in), append(j.ends, size)
}

// ReadAt implements io.ReaderAt.
func (j *multiReaderAt) ReadAt(p []byte, offset int64) (n int, err error) {
	begin := int64(0)
	for i, end := range j.ends {
		if at := offset + int64(n); at < end && n < len(p) {
			part := p[n:min(int64(len(p)), int64(n)+end-at)]
			m, err := j.files[i].ReadAt(part, at-begin)
			n += m
			if m < len(part) {
				return n, errors.Join(io.ErrUnexpectedEOF, err)
			}
		}
		begin = end
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// find reads the row of a folder's pack by its name; nil: there is none.
func (s *Service) find(ctx context.Context, in repo.Folder, name string) (f *packFile, err error) {
	return db.Get(ctx, s.db, func(tx *db.Tx) (*packFile, error) { return packOf(tx, in, name) })
}

// Replace implements git.Keeper.
func (k keeper) Replace(ctx context.Context, names []string, into string) error {
	f, err := k.s.find(ctx, k.c.folder, into)
	if err == nil && f == nil {
		err = errNotKept(into)
	}
	if err == nil {
		err = k.s.compare(ctx, f)
	}
	if err != nil {
		return fmt.Errorf("reading back: %w", err)
	}
	var after int64
	err = k.s.db.WriteAs(ctx, db.Server, func(tx *db.Tx) (err error) {
		if after, err = incrementGeneration(tx, k.c.folder); err != nil {
			return err
		}
		now, err := packOf(tx, k.c.folder, into)
		if err == nil && (now == nil || now.id != f.id) {
			err = errNotKept(into)
		}
		if err != nil {
			return err
		}
		return removePacks(tx, k.c.folder, names)
	})
	if err != nil {
		return err
	}
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	for _, name := range names {
		delete(k.c.names, name)
	}
	if k.c.generation > 0 && after == k.c.generation+1 {
		k.c.generation = after
	}
	return nil
}

// Refresh implements git.Keeper.
func (k keeper) Refresh(ctx context.Context) error {
	now, err := db.Get(ctx, k.s.db, func(tx *db.Tx) (int64, error) { return generation(tx, k.c.folder) })
	if err != nil {
		return err
	}
	objects := k.s.git.Repository(k.s.repos.Path(k.c.folder.ID, k.c.folder.Purges))
	return k.s.update(ctx, k.c, now, objects)
}

// Has implements git.Keeper.
func (k keeper) Has(name string) bool { return k.c.has(name) }

// HasPacks implements git.Keeper.
func (k keeper) HasPacks() bool {
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	return len(k.c.names) > 0
}

func errNotKept(name string) error {
	return fmt.Errorf("packs: pack %s no longer belongs to the repository: another node has replaced it", name)
}

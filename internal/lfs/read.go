package lfs

import (
	"context"
	"io"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/repo"
)

// Find finds the object of a pointer in a repository that the caller sees. Error: 404 if the repository does not have
// it, or another size of it.
func (s *Service) Find(ctx context.Context, a *repo.Access, p Pointer) (*Object, error) {
	have, err := s.find(ctx, a.ID, []string{p.OID})
	if err != nil {
		return nil, err
	}
	if o := have[p.OID]; o != nil && o.Size == p.Size {
		return o, nil
	}
	return nil, errs.Absent()
}

// Open opens the content of an object. Error: 404 if it was deleted.
func (s *Service) Open(ctx context.Context, o *Object) (file.Content, error) {
	return s.files.Open(ctx, &o.File)
}

// Read reads the content of an object of at most most bytes; ok is false for a larger one. The memory is held for the
// request.
func (s *Service) Read(ctx context.Context, o *Object, most int64) (data []byte, ok bool, err error) {
	if o.Size > most {
		return nil, false, nil
	}
	if err := admission.Hold(ctx, o.Size); err != nil {
		return nil, false, err
	}
	in, err := s.Open(ctx, o)
	if err != nil {
		return nil, false, err
	}
	defer in.Close()
	data = make([]byte, o.Size)
	_, err = io.ReadFull(in, data)
	return data, err == nil, err
}

// Contents are all objects that a repository had at one time, for an archive of its files.
type Contents struct {
	s    *Service
	have map[string]*Object
}

// perObject is about how many bytes of memory Contents take for an object.
const perObject = 400

// Newest returns the id of the newest object of a repository, by which its contents differ from those of another
// time; 0: it has none.
func (s *Service) Newest(ctx context.Context, a *repo.Access) (id int64, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) (err error) {
		_, id, err = summary(tx, a.ID)
		return err
	})
	return id, err
}

// Contents reads which objects a repository has. The memory is held for the request.
func (s *Service) Contents(ctx context.Context, a *repo.Access) (*Contents, error) {
	c := &Contents{s: s}
	err := s.db.Read(ctx, func(tx *db.Tx) error {
		n, _, err := summary(tx, a.ID)
		if err == nil {
			err = admission.Hold(ctx, n*perObject)
		}
		if err != nil {
			return err
		}
		list, err := allOf(tx, a.ID)
		c.have = byOID(list)
		return err
	})
	return c, err
}

// Replace opens what stands for a file of a repository: the object, if the file is a pointer to one of the contents.
// size is its size in bytes; in is nil for any other file.
func (c *Contents) Replace(ctx context.Context, file []byte) (in io.ReadCloser, size int64, err error) {
	p, ok := ParsePointer(file)
	o := c.have[p.OID]
	if !ok || o == nil || o.Size != p.Size {
		return nil, 0, nil
	}
	f, err := c.s.Open(ctx, o)
	if errs.Is(err, errs.NotFound) {
		return nil, 0, nil
	} else if err != nil {
		return nil, 0, err
	}
	return f, o.Size, nil
}

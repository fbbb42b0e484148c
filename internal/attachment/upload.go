package attachment

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/repo"
)

// Upload adds a file to a repository, while it comes. Errors: 422 for a file that is empty or too large, and
// for more than the caller may have there; 403 for the quota of the owner or of a caller without push access;
// 507; those of the body.
func (s *Service) Upload(
	ctx context.Context, a *repo.Access, name string, from io.Reader,
) (*Attachment, error) {
	head := make([]byte, headSize)
	n, err := io.ReadFull(from, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errs.Wrap(errs.Malformed, "The file could not be read to its end", err)
	}
	made := &Attachment{Key: strings.ToLower(rand.Text()), Name: cleanName(name),
		ContentType: kindOf(head[:n]),
		UploaderID:  a.Caller.ID}
	most := s.Bounds.Other
	if made.IsPicture() {
		most = s.Bounds.Picture
	}
	in := file.Incoming{From: io.MultiReader(bytes.NewReader(head[:n]), from), Size: -1, Most: most, As: a}
	if a.Role < account.Push {
		in.Payer = a.Caller.ID
	}
	err = s.files.Upload(ctx, a.ID, in,
		func(tx *db.Tx) error { return s.mayAdd(tx, a, 1) },
		func(tx *db.Tx, f *file.File) error {
			made.File, made.CreatedAt = *f, tx.Now
			if err := s.mayAdd(tx, a, f.Size); err != nil {
				return err
			}
			return insert(tx, made)
		})
	switch {
	case errors.Is(err, file.ErrEmpty):
		return nil, invalid("file", "The file is empty.")
	case errors.Is(err, file.ErrSize) && made.IsPicture():
		return nil, invalid("file", "A picture may have at most "+mebibytes(most)+".")
	case errors.Is(err, file.ErrSize):
		return nil, invalid("file", "A file may have at most "+mebibytes(most)+".")
	case err != nil:
		return nil, err
	}
	return made, nil
}

// mayAdd refuses a file that would exceed the limits of a caller without push access. Error:
// 422.
func (s *Service) mayAdd(tx *db.Tx, a *repo.Access, size int64) error {
	if a.Role >= account.Push {
		return nil
	}
	files, bytes, err := ownIn(tx, a.ID, a.Caller.ID)
	switch {
	case err != nil:
		return err
	case files >= s.Bounds.Files:
		return invalid("file",
			fmt.Sprintf("You may have at most %d files in this repository. Remove some first.",
				s.Bounds.Files))
	case bytes+size > s.Bounds.Bytes:
		return invalid("file", "Your files in this repository may have at most "+mebibytes(s.Bounds.Bytes)+
			". Remove some first.")
	}
	return nil
}

func mebibytes(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// Remove removes an attachment and its file. Errors: 404; 403 for callers who neither uploaded it nor administer
// the repository.
func (s *Service) Remove(ctx context.Context, a *repo.Access, key string) error {
	return s.db.WriteAs(ctx, a, func(tx *db.Tx) error {
		if err := repo.Lock(tx, a.ID); err != nil {
			return err
		}
		x, err := byKey(tx, a.ID, key)
		if err != nil {
			return err
		}
		now, err := a.Now(tx)
		if err != nil {
			return err
		}
		if x.UploaderID != a.Caller.ID && now.Role < account.Admin {
			return errs.New(errs.Forbidden, "Must have admin rights to Repository.")
		}
		if err := remove(tx, x.ID); err != nil {
			return err
		}
		return s.files.Drop(tx, a.ID, []file.ID{x.File.ID})
	})
}

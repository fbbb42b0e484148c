package gitdata

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"arbor/internal/errs"
	"arbor/internal/file"
	"arbor/internal/git"
	"arbor/internal/lfs"
	"arbor/internal/repo"
	"arbor/internal/web"
)

// Large returns the object of Git LFS to which a file points, as far as its bytes were read. ok is false for any
// other file, and for a pointer to what the repository does not have.
func (s *Service) Large(ctx context.Context, a *repo.Access, f *File) (o *lfs.Object, ok bool, err error) {
	if s.LFS == nil || !f.Read || f.Link != nil || f.Type != git.TypeBlob {
		return nil, false, nil
	}
	return s.large(ctx, a, f.Data)
}

func (s *Service) large(ctx context.Context, a *repo.Access, data []byte) (o *lfs.Object, ok bool, err error) {
	p, ok := lfs.ParsePointer(data)
	if !ok {
		return nil, false, nil
	}
	o, err = s.LFS.Find(ctx, a, p)
	if errs.Is(err, errs.NotFound) {
		return nil, false, nil
	}
	return o, err == nil, err
}

// pointed is Large for the entry of a tree.
func (s *Service) pointed(ctx context.Context, a *repo.Access, v *view, e git.TreeEntry) (*lfs.Object, bool, error) {
	if s.LFS == nil {
		return nil, false, nil
	}
	target, link, err := v.follow(ctx, e)
	if err != nil || link != nil && target.Mode == git.ModeSymlink {
		return nil, false, err
	}
	info, err := v.objects.Info(ctx, target.SHA)
	if err != nil || info.Type != git.TypeBlob || info.Size > lfs.MaxPointer {
		return nil, false, err
	}
	_, data, err := v.objects.Contents(ctx, target.SHA, lfs.MaxPointer)
	if err != nil {
		return nil, false, err
	}
	return s.large(ctx, a, data)
}

// sendLarge answers with the bytes of an object, or a range of them: a picture or a PDF as one, text as text.
func (s *Service) sendLarge(w http.ResponseWriter, r *http.Request, name string, o *lfs.Object) error {
	if web.NotModified(w, r, `"`+o.OID+`"`) {
		return nil
	}
	in, err := s.LFS.Open(r.Context(), o)
	if err != nil {
		return err
	}
	defer in.Close()
	kind, err := largeType(name, in)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", policyOf(kind))
	return file.Send(w, r, in, kind, "inline", o.CreatedAt.Time())
}

// largeType returns the media type of a file by its first bytes.
func largeType(name string, in file.Content) (string, error) {
	begins := make([]byte, sniffed)
	n, err := io.ReadFull(in, begins)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if kind := pictureType(name, begins[:n]); kind != "" {
		return kind, nil
	}
	if strings.HasPrefix(http.DetectContentType(begins[:n]), "text/") {
		return "text/plain; charset=utf-8", nil
	}
	return file.AnyBytes, nil
}

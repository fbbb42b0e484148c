package file

import (
	"context"
	"net/http"
	"strings"
	"time"

	"arbor/internal/admission"
	"arbor/internal/depot"
)

// AnyBytes is the media type of a file that no browser shows.
const AnyBytes = "application/octet-stream"

// Send answers with the content of an open file, or with a range of it, so that no browser runs anything in
// it as a page of this site. disposition is the header Content-Disposition. A policy that is set
// already stays. Error: of content that breaks off or turns out to be another; then the connection is broken, too,
// since the answer has begun.
func Send(
	w http.ResponseWriter, r *http.Request, in Content, mediaType, disposition string, created time.Time,
) error {
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Disposition", disposition)
	if h.Get("Content-Security-Policy") == "" {
		h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	}
	h.Set("X-Content-Type-Options", "nosniff")
	if strings.Contains(r.Header.Get("Range"), ",") {
		r.Header.Del("Range") // of several ranges, all is sent: RFC 9110, 14.2
	}
	admission.As(r.Context(), admission.Stream)
	from, remote := in.(*reader)
	if remote {
		from.part = r.Header.Get("Range") != ""
	}
	http.ServeContent(w, r, "", created, in)
	if remote {
		return from.err
	}
	return nil
}

// Validity is how long a signed address works for anyone who has it, even if access is revoked in the meantime. Downloads
// that have started continue. It is short because drafts exist, and because repositories can become private;
// git lfs asks again.
const Validity = 5 * time.Minute

// Direct returns an address at which a caller who may read a file can download it from the
// storage of files as an attachment, and for how long. Browsers run nothing of it on any origin: its type is that of
// any bytes. Empty: there is no such address. disposition is the header Content-Disposition.
func (s *Store) Direct(ctx context.Context, f *File, disposition string) (string, time.Duration, error) {
	if f.Depot == 0 {
		return "", 0, nil
	}
	from, err := s.depot(ctx, f.Depot)
	if err != nil {
		return "", 0, err
	}
	address, err := from.URL(ctx, Path(f.Name), depot.Answer{Type: AnyBytes, Disposition: disposition}, Validity)
	return address, Validity, err
}

// SendDownload answers with a file as a download: a redirect to a signed address if there is one, else its bytes.
// HEAD is answered here, since an address is signed for GET.
func (s *Store) SendDownload(
	w http.ResponseWriter, r *http.Request, f *File, disposition string, created time.Time,
) error {
	if r.Method == http.MethodGet {
		address, _, err := s.Direct(r.Context(), f, disposition)
		if err != nil {
			return err
		}
		if address != "" {
			w.Header().Set("Location", address)
			w.Header().Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusFound)
			return nil
		}
	}
	in, err := s.Open(r.Context(), f)
	if err != nil {
		return err
	}
	defer in.Close()
	return Send(w, r, in, AnyBytes, disposition, created)
}

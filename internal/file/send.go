package file

import (
	"net/http"
	"os"
	"strings"
	"time"

	"arbor/internal/admission"
)

// AnyBytes is the media type of a file that no browser shows.
const AnyBytes = "application/octet-stream"

// Send answers with the bytes of an open file, or with a range of them, so that no browser runs anything in
// it as a page of this site. disposition is the header Content-Disposition. A policy that is set
// already stays.
func Send(
	w http.ResponseWriter, r *http.Request, in *os.File, mediaType, disposition string, created time.Time,
) {
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
	http.ServeContent(w, r, "", created, in)
}

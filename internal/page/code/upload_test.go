package code

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/page"
	"arbor/internal/web"
)

// manyFields is a request with a form of so many fields, which came in pieces.
func manyFields(fields int) (r *http.Request, size int) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for n := range fields {
		w.WriteField(fmt.Sprint("f", n), "x")
	}
	w.Close()
	r, _ = http.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Body, r.ContentLength = &web.Body{Data: b.Bytes()}, -1
	return r, b.Len()
}

// An upload takes as much memory from the server's as its body has, whether it said its length or not.
func TestUploadsAskForTheirMemory(t *testing.T) {
	t.Parallel()
	if r, size := manyFields(10); sent(r) != int64(size) {
		t.Errorf("%d bytes count as %d", size, sent(r))
	}
}

// A form with files has no more fields than any other.
func TestUploadsHaveFewFields(t *testing.T) {
	t.Parallel()
	for fields, want := range map[int]bool{page.MaxFields: true, page.MaxFields + 1: false} {
		r, _ := manyFields(fields)
		if _, _, err := readUpload(r, ""); (err == nil) != want ||
			err != nil && !errs.Is(err, errs.Malformed) {
			t.Errorf("%d fields: %v", fields, err)
		}
	}
}

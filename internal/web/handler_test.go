package web

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"arbor/internal/errs"
)

type failing struct {
	*httptest.ResponseRecorder
	err error
}

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// An answer that the client does not take is no fault of the server; one that contradicts its header is.
func TestHandleUntakenAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		kind errs.Kind
	}{
		{errors.New("client disconnected"), errs.Canceled}, {http.ErrContentLength, errs.Internal},
	} {
		info := &Info{}
		r := httptest.NewRequest("GET", "/", nil)
		r = r.WithContext(WithInfo(r.Context(), info))
		func() {
			defer func() {
				if recover() != http.ErrAbortHandler {
					t.Error("the connection stays")
				}
			}()
			Handle(&Writer{ResponseWriter: failing{httptest.NewRecorder(), c.err}}, r,
				func(w http.ResponseWriter, _ *http.Request) error {
					_, err := w.Write([]byte("x"))
					return err
				})
		}()
		if !errs.Is(info.Note, c.kind) || !errors.Is(info.Note, c.err) {
			t.Errorf("after %v: %v", c.err, info.Note)
		}
	}
}

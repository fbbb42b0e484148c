package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/errs"
	"arbor/internal/test/testkit"
)

// A client that has the answer already must not get it again, and one that
// changed must (RFC 9110, 13.1.2).
func TestConditionalAnswers(t *testing.T) {
	body := []byte(`{"a":1}`)
	tag := Tag(body)
	for given, status := range map[string]int{
		"": 200, tag: 304, strings.TrimPrefix(tag, "W/"): 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200,
		tag + "x": 200, "W/" + tag: 200,
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if given != "" {
			r.Header.Set("If-None-Match", given)
		}
		w := httptest.NewRecorder()
		testkit.NoError(t, Bytes(w, r, http.StatusOK, body, ""))
		if w.Code != status || w.Header().Get("Etag") != tag || (status == 304) != (w.Body.Len() == 0) {
			t.Errorf("%q: %d, %v, %q", given, w.Code, w.Header(), w.Body)
		}
	}
	if Tag([]byte("a")) == Tag([]byte("b")) {
		t.Error("two bodies, one tag")
	}
}

// What is unknown is masked; what is known is told; a torn answer is torn
// visibly (decision 20).
func TestHandle(t *testing.T) {
	for _, c := range []struct {
		err    error
		status int
		body   string
	}{
		{errs.Absent(), 404, `{"message":"Not Found","documentation_url":"d"}`},
		{fmt.Errorf("deep: %w", errs.Wrap(errs.Conflict, "Git Repository is empty.", errors.New("secret"))),
			409, `{"message":"Git Repository is empty.","documentation_url":"d"}`},
		{errors.New("SELECT secret FROM /var/lib"), 500,
			`{"message":"Server Error (request id7)","documentation_url":"d"}`},
		{errs.Wrap(errs.Internal, "secret too", nil), 500,
			`{"message":"Server Error (request id7)","documentation_url":"d"}`},
		{errs.Validation(errs.Field{Resource: "Issue", Field: "title", Code: errs.MissingField}), 422,
			`{"message":"Validation Failed","errors":[{"resource":"Issue","field":"title","code":"missing_field"}],"documentation_url":"d"}`},
	} {
		recorder := httptest.NewRecorder()
		r := With(httptest.NewRequest("GET", "/", nil), &Info{ID: "id7", Docs: "d"})
		Handle(&Writer{ResponseWriter: recorder}, r, func(w http.ResponseWriter, _ *http.Request) error {
			w.Header().Set("Etag", `"of something else"`)
			return c.err
		})
		if recorder.Code != c.status || recorder.Body.String() != c.body ||
			recorder.Header().Get("Etag") != "" {
			t.Errorf("%v: %d %s %v", c.err, recorder.Code, recorder.Body, recorder.Header())
		}
	}
	t.Run("panic", func(t *testing.T) {
		recorder := httptest.NewRecorder()
		r := With(httptest.NewRequest("GET", "/", nil), &Info{ID: "id8"})
		Handle(&Writer{ResponseWriter: recorder}, r, func(http.ResponseWriter, *http.Request) error {
			panic("secret")
		})
		if recorder.Code != 500 || strings.Contains(recorder.Body.String(), "secret") {
			t.Errorf("%d %s", recorder.Code, recorder.Body)
		}
	})
	t.Run("after the first bytes", func(t *testing.T) {
		defer func() {
			if recover() != http.ErrAbortHandler {
				t.Error("the connection was not broken")
			}
		}()
		r := With(httptest.NewRequest("GET", "/", nil), &Info{})
		Handle(&Writer{ResponseWriter: httptest.NewRecorder()}, r,
			func(w http.ResponseWriter, _ *http.Request) error {
				w.Write([]byte("half"))
				return errors.New("disk on fire")
			})
	})
}

package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"arbor/internal/apitest"
	"arbor/internal/db"
)

// held is a body that says when it is first read, and then makes its reader
// wait.
type held struct {
	reading chan<- struct{}
	release <-chan struct{}
}

func (h held) Read([]byte) (int, error) {
	h.reading <- struct{}{}
	<-h.release
	return 0, io.ErrUnexpectedEOF
}

// When too many requests are being served, one more must be told to come again
// in words that its client reads, not be served until memory ends; and a
// request that ends, however badly, makes room for the next.
func TestOverload(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Log.AllowErrors()
	s.User(t, "alice")
	const most = 2
	s.Server.SetMost(most)
	reading, release := make(chan struct{}, 9), make(chan struct{})
	var waiting sync.WaitGroup
	for range most {
		waiting.Go(func() {
			ask(t, s, httptest.NewRecorder(), "POST", "/user/repos", held{reading, release})
		})
		select {
		case <-reading:
		case <-time.After(time.Minute):
			t.Fatal("a request below the limit is not served")
		}
	}
	for path, has := range map[string]struct{ contentType, field string }{
		"/users/alice":                 {"application/json; charset=utf-8", "message"},
		"/nothing/of/this/kind":        {"application/json; charset=utf-8", "documentation_url"},
		"/plants":                      {"application/json", "error"},
		"/alice/garden.git/info/refs":  {"text/plain; charset=utf-8", ""},
		"/alice/nothing.git/info/refs": {"text/plain; charset=utf-8", ""},
	} {
		w := httptest.NewRecorder()
		ask(t, s, w, "GET", path, nil)
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: %d with Retry-After %q", path, w.Code, w.Header().Get("Retry-After"))
		}
		if got := w.Header().Get("Content-Type"); got != has.contentType {
			t.Errorf("%s: an answer of type %q, want %q", path, got, has.contentType)
		}
		var body map[string]any
		err := json.Unmarshal(w.Body.Bytes(), &body)
		if has.field == "" && err == nil || has.field != "" && body[has.field] == nil {
			t.Errorf("%s: the client reads %q", path, w.Body)
		}
	}
	close(release)
	waiting.Wait()
	wantRoom(t, s, "after requests whose clients went away")
}

// wantRoom checks that nothing is being served, and that something can be.
func wantRoom(t *testing.T, s *apitest.Server, when string) {
	t.Helper()
	if n := s.Server.InFlight(); n != 0 {
		t.Errorf("%s: %d requests are still counted", when, n)
	}
	w := httptest.NewRecorder()
	if ask(t, s, w, "GET", "/users/alice", nil); w.Code != http.StatusOK {
		t.Errorf("%s: %d", when, w.Code)
	}
}

// A defect in one handler must not take its room for ever: after 4096 of them
// the server would refuse everybody.
func TestPanicMakesRoom(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Log.AllowErrors()
	s.User(t, "alice")
	s.Server.SetMost(1)
	w := httptest.NewRecorder()
	if p := ask(t, s, w, "POST", "/user/repos", broken{w}); p != nil || w.Code != http.StatusInternalServerError {
		t.Errorf("a panic before the answer: %d, %v", w.Code, p)
	}
	wantRoom(t, s, "after a panic before the answer")
	if p := ask(t, s, broken{w}, "GET", "/users/alice", nil); p != http.ErrAbortHandler {
		t.Errorf("a panic in the middle of an answer: %v", p)
	}
	wantRoom(t, s, "after a panic in the middle of an answer")
}

// broken panics where others read a body or write an answer.
type broken struct{ http.ResponseWriter }

func (broken) Read([]byte) (int, error)  { panic("a defect") }
func (broken) Write([]byte) (int, error) { panic("a defect") }

// ask serves a request of alice and returns what it panicked with.
func ask(t *testing.T, s *apitest.Server, w http.ResponseWriter, method, path string, body io.Reader) (p any) {
	r := httptest.NewRequest(method, path, body)
	r.Header.Set("Authorization", "Bearer "+s.Token(t, "alice"))
	defer func() { p = recover() }()
	s.Server.ServeHTTP(w, r)
	return nil
}

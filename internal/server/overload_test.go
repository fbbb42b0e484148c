package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// stuck is a client that says when its answer comes, and then does not read it.
type stuck struct {
	*httptest.ResponseRecorder
	writing chan<- struct{}
	release <-chan struct{}
}

func (s stuck) Write(p []byte) (int, error) {
	s.writing <- struct{}{}
	<-s.release
	return s.ResponseRecorder.Write(p)
}

// When as much is going on as the server has memory for, one more must be told to
// come again, soon and in words that its client reads; and a request that ends,
// however badly, makes room for the next.
func TestOverload(t *testing.T) {
	t.Parallel()
	// The memory is enough for four requests.
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.Admission = admission.New(1<<20, nil) })
	s.Log.AllowErrors()
	s.Users(t, "alice", "bob")
	writing, release := make(chan struct{}), make(chan struct{})
	var clients sync.WaitGroup
	hold := func(as string) {
		t.Helper()
		clients.Go(func() {
			ask(t, s, as, stuck{httptest.NewRecorder(), writing, release}, "GET", "/users/alice", nil)
		})
		select {
		case <-writing:
		case <-time.After(testkit.Patience):
			t.Fatalf("%s is not served although there is room", as)
		}
	}
	hold("alice")
	hold("alice")
	w := httptest.NewRecorder()
	if ask(t, s, "alice", w, "GET", "/users/alice", nil); w.Code != http.StatusTooManyRequests ||
		w.Header().Get("Retry-After") == "" {
		t.Errorf("who holds a half asks for more: %d, want 429", w.Code)
	}
	hold("bob")
	w = httptest.NewRecorder()
	if ask(t, s, "", w, "GET", "/users/alice", nil); w.Code != http.StatusServiceUnavailable {
		t.Errorf("without a token, where the last room is for who signed in: %d, want 503", w.Code)
	}
	s.User(t, "carol")
	hold("carol")
	s.User(t, "dave")
	for path, has := range map[string]struct{ contentType, field string }{
		"/users/alice":                {"application/json; charset=utf-8", "message"},
		"/plants":                     {"application/json", "error"},
		"/alice/garden.git/info/refs": {"text/plain; charset=utf-8", ""},
	} {
		w := httptest.NewRecorder()
		ask(t, s, "dave", w, "GET", path, nil)
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
	untilHealthy(t, s)
	close(release)
	go func() {
		for range writing { // further writes of the same answers
		}
	}()
	clients.Wait()
	wantRoom(t, s, "after requests whose clients did not read")
}

// wantRoom checks that nothing is held, and that something can be.
func wantRoom(t *testing.T, s *apitest.Server, when string) {
	t.Helper()
	for _, u := range s.Admitted.Usage() {
		if u.Held != 0 || u.Waiting != 0 {
			t.Errorf("%s: %+v", when, u)
		}
	}
	w := httptest.NewRecorder()
	if ask(t, s, "alice", w, "GET", "/users/alice", nil); w.Code != http.StatusOK {
		t.Errorf("%s: %d", when, w.Code)
	}
}

// A defect in one handler must not take its room for ever: after some of them
// the server would refuse everybody.
func TestPanicMakesRoom(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.Log.AllowErrors()
	s.User(t, "alice")
	w := httptest.NewRecorder()
	p := ask(t, s, "alice", w, "POST", "/user/repos", broken{w})
	if p != nil || w.Code != http.StatusInternalServerError {
		t.Errorf("a panic before the answer: %d, %v", w.Code, p)
	}
	wantRoom(t, s, "after a panic before the answer")
	if p := ask(t, s, "alice", broken{w}, "GET", "/users/alice", nil); p != http.ErrAbortHandler {
		t.Errorf("a panic in the middle of an answer: %v", p)
	}
	wantRoom(t, s, "after a panic in the middle of an answer")
}

// broken panics where others read a body or write an answer.
type broken struct{ http.ResponseWriter }

func (broken) Read([]byte) (int, error)  { panic("a defect") }
func (broken) Write([]byte) (int, error) { panic("a defect") }

// ask serves a request of somebody, or of nobody, and returns what it panicked with.
func ask(
	t *testing.T, s *apitest.Server, as string, w http.ResponseWriter, method, path string, body io.Reader,
) (p any) {
	r := httptest.NewRequest(method, path, body)
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token(t, as))
	}
	defer func() { p = recover() }()
	s.Handler.ServeHTTP(w, r)
	return nil
}

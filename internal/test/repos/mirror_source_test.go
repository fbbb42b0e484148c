package repos_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"arbor/internal/test/testkit"
)

// source is a server of Git in front of another one. It counts requests, and can misbehave.
type source struct {
	*httptest.Server
	proxy http.Handler // what it answers while it does not misbehave
	mu    sync.Mutex
	asked []string
	fault func(w http.ResponseWriter, r *http.Request) bool // reports that it has answered; nil: none
}

func newSource(t *testing.T, behind string) *source {
	t.Helper()
	to, err := url.Parse(behind)
	testkit.NoError(t, err)
	s := &source{proxy: &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.SetXForwarded() // else the proxy may end an answer that begins early
	}}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.URL.Path)
		fault := s.fault
		s.mu.Unlock()
		if fault == nil || !fault(w, r) {
			s.proxy.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// misbehave sets the fault, and returns what was asked until then.
func (s *source) misbehave(fault func(http.ResponseWriter, *http.Request) bool) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked, s.fault = nil, fault
	return asked
}

// begin answers a request with the first 100 KiB of what is behind the source. whole reports that there is no more.
func (s *source) begin(w http.ResponseWriter, r *http.Request) (whole bool) {
	answer := httptest.NewRecorder()
	s.proxy.ServeHTTP(answer, r)
	w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
	w.WriteHeader(answer.Code)
	part := answer.Body.Bytes()
	_, _ = w.Write(part[:min(len(part), 100<<10)])
	if len(part) <= 100<<10 {
		return true
	}
	_ = http.NewResponseController(w).Flush()
	return false
}

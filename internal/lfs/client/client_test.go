package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"arbor/internal/hook/outgoing"
	"arbor/internal/lfs"
	"arbor/internal/test/testkit"
)

// A password is for the server that it was given for. Where that keeps its objects, nobody learns it.
func TestCredentialsStayWithTheirServer(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	note := func(w http.ResponseWriter, r *http.Request) {
		seen[r.URL.Path] = r.Header.Get("Authorization") + r.Header.Get("X-Given")
		_, _ = io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, "content")
	}
	elsewhere := httptest.NewServer(http.HandlerFunc(note))
	defer elsewhere.Close()
	var href string
	mux := http.NewServeMux()
	mux.HandleFunc("/a/b.git/info/lfs/objects/batch", func(w http.ResponseWriter, r *http.Request) {
		to := lfs.Action{Href: href, Header: map[string]string{"X-Given": "given"}}
		var q lfs.BatchRequest
		_ = json.NewDecoder(r.Body).Decode(&q)
		seen[r.URL.Path] = r.Header.Get("Authorization")
		_ = json.NewEncoder(w).Encode(lfs.BatchAnswer{Objects: []lfs.BatchObject{
			{Pointer: q.Objects[0], Actions: map[string]lfs.Action{"download": to, "upload": to}}}})
	})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL+"/after", http.StatusFound)
	})
	mux.HandleFunc("/own", note)
	server := httptest.NewServer(mux)
	defer server.Close()
	at, err := url.Parse(server.URL + "/a/b")
	testkit.NoError(t, err)
	s := New(Base(at), http.Header{"Authorization": {"secret"}}, outgoing.Loopback())
	p := lfs.Pointer{OID: strings.Repeat("a", 64), Size: 7}
	for _, c := range []struct{ href, path, want string }{
		{server.URL + "/own", "/own", "secretgiven"},
		{elsewhere.URL + "/other", "/other", "given"},
		{server.URL + "/moved", "/after", ""},
	} {
		href = c.href
		found, err := s.Batch(t.Context(), false, []lfs.Pointer{p})
		testkit.NoError(t, err)
		in, err := s.Open(t.Context(), found[p.OID])
		testkit.NoError(t, err)
		testkit.NoError(t, in.Close())
		if got, asked := seen[c.path]; !asked || got != c.want {
			t.Errorf("%s got %q, want %q", c.href, got, c.want)
		}
	}
	if seen["/a/b.git/info/lfs/objects/batch"] != "secret" {
		t.Error("the server got no credentials")
	}
	href = server.URL + "/moved"
	found, err := s.Batch(t.Context(), true, []lfs.Pointer{p})
	testkit.NoError(t, err)
	clear(seen)
	if err := s.Send(t.Context(), found[p.OID], strings.NewReader("content")); err == nil || len(seen) > 0 {
		t.Errorf("an upload followed a redirect: %v, %q", err, seen)
	}
	for _, bad := range []string{"", "file:///etc/passwd", "http://", "http://user:x@127.0.0.1/", "/relative", "http://10.0.0.1/inner"} {
		href = bad
		found, err := s.Batch(t.Context(), false, []lfs.Pointer{p})
		testkit.NoError(t, err)
		if in, err := s.Open(t.Context(), found[p.OID]); err == nil {
			t.Errorf("%q was read: %v", bad, in.Close())
		}
	}
}

// What is no answer of Git LFS is an error without a word of it.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	var body string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
	defer server.Close()
	at, err := url.Parse(server.URL + "/a/b.git")
	testkit.NoError(t, err)
	s := New(Base(at), nil, outgoing.Loopback())
	for _, body = range []string{"", "hello", `{"objects":[{"oid":1}]}`, `{"transfer":"tus","objects":[]}`,
		`{"objects":[` + strings.Repeat(`{"oid":"x"},`, maxAnswer/10) + `{}]}`} {
		if _, err := s.Batch(t.Context(), false, nil); err == nil || strings.Contains(err.Error(), "hello") {
			t.Errorf("%.20q: %v", body, err)
		}
	}
	if got := Base(at).Path; got != "/a/b.git/info/lfs" {
		t.Errorf("the API is at %s", got)
	}
}

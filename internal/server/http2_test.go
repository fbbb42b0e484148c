package server_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/test/load"
	"arbor/internal/test/testenv"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// dialH2 connects from an address of this machine.
func dialH2(t *testing.T, s *apitest.Server, certFile, from string) *load.HTTP2 {
	t.Helper()
	c, err := load.DialHTTP2(t.Context(), s.Address, from, testkit.Trusting(t, certFile))
	testkit.NoError(t, err)
	t.Cleanup(func() { c.Drop() })
	return c
}

// serves asks over a new connection from another network, and waits for the answer.
func serves(t *testing.T, s *apitest.Server, certFile string) {
	t.Helper()
	c := dialH2(t, s, certFile, "127.9.9.9")
	err := c.Request(1, true, "GET", "/healthz")
	if err == nil {
		err = c.Until(testkit.Patience, func(f http2.Frame) bool {
			_, ok := f.(*http2.DataFrame)
			return ok
		})
	}
	if err != nil {
		t.Errorf("another network is not served: %v", err)
	}
	c.Drop()
}

// readRefusals sends to refused for each request that is answered by 429, until the connection ends.
func readRefusals(a *load.HTTP2, refused chan<- bool) {
	heads := hpack.NewDecoder(4096, nil)
	a.Until(testkit.Patience, func(f http2.Frame) bool {
		if h, ok := f.(*http2.HeadersFrame); ok {
			fields, _ := heads.DecodeFull(h.HeaderBlockFragment())
			if len(fields) > 0 && fields[0].Value == "429" {
				refused <- true
			}
		}
		return false
	})
}

// Requests over HTTP/2 answer as others do, and know that they came by https.
func TestHTTP2(t *testing.T) {
	t.Parallel()
	s, _ := apitest.StartTLS(t, db.SQLite)
	garden(t, s)
	a := s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "alice", Status: 200,
		Want: fmt.Sprintf(`{"url": "%s/repos/alice/garden"}`, s.URL)})
	if a.Proto != "HTTP/2.0" {
		t.Errorf("the request went by %s", a.Proto)
	}
	s.Run(t, []apitest.Case{
		{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title": "x"}`, Status: 201},
		{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title": `, Status: 400},
		{Do: "HEAD /repos/alice/garden", Status: 200},
		{Do: "GET /healthz", Status: 200, Body: "ok\n"},
		{Do: "GET /nothing/at/all", Status: 404},
	})
}

// One connection of HTTP/2 carries many requests. Each counts, else one network would
// hold a hundred times as many as it may have connections.
func TestStreamsCountAsConnections(t *testing.T) {
	t.Parallel()
	s, certFile := apitest.StartTLS(t, db.SQLite, memory(64<<20))
	garden(t, s)
	s.Log.AllowErrors()
	most := int64(admission.MaxConns(64 << 20))
	var all []*load.HTTP2
	for range 8 {
		all = append(all, dialH2(t, s, certFile, "127.0.0.7"))
	}
	for _, a := range all {
		for i := range uint32(100) {
			testkit.NoError(t, a.Request(1+2*i, false, "POST", "/alice/garden.git/git-upload-pack",
				"content-length", "1000", "content-type",
				"application/x-git-upload-pack-request"))
		}
	}
	// Which connection holds the network's share is left to chance, so all are read.
	refused, read := make(chan bool, 800), sync.WaitGroup{}
	defer read.Wait()
	for _, a := range all {
		defer a.Conn.Close()
		read.Go(func() { readRefusals(a, refused) })
	}
	// How many are refused depends on how fast they are sent: bodies that never come free their places.
	select {
	case <-refused:
	case <-time.After(testkit.Patience):
		t.Fatalf("none of 800 requests of a network that may have %d is refused", most/2)
	}
	if open, turned := s.Admitted.Open(); turned == 0 || open > most/2+10 {
		t.Errorf("one network has %d open of %d, %d were turned away", open, most, turned)
	}
	serves(t, s, certFile)
	freed(t, s) // bodies that never come
	for _, a := range all {
		a.Conn.Close()
	}
	testkit.Eventually(t, func() bool { open, _ := s.Admitted.Open(); return open <= 1 }, "none is counted")
}

// Requests that take longer than the server waits for a client go on: HTTP/2's deadlines
// are timers, which would end a push of eleven seconds.
func TestSlowButSteadyBody(t *testing.T) {
	t.Parallel()
	if !testenv.Long {
		t.Skip("takes as long as the server's patience")
	}
	s, certFile := apitest.StartTLS(t, db.SQLite)
	garden(t, s)
	config := testkit.Trusting(t, certFile)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}}
	send := func(every, pause time.Duration, piece int) (*http.Response, error) {
		in, out := io.Pipe()
		go func() {
			io.WriteString(out, `{"title": "`)
			for end := time.Now().Add(every); time.Now().Before(end); time.Sleep(pause) {
				if _, err := io.WriteString(out, strings.Repeat("x", piece)); err != nil {
					return
				}
			}
			io.WriteString(out, `", "n": 1}`)
			out.Close()
		}()
		r, err := http.NewRequest("POST", s.URL+"/repos/alice/garden/issues", in)
		testkit.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+s.Token(t, "alice"))
		return client.Do(r)
	}
	slow := admission.Grace + 3*time.Second
	res, err := send(slow, 500*time.Millisecond, 10<<10)
	if err != nil || res.StatusCode != http.StatusUnprocessableEntity { // the title is too long
		t.Errorf("a steady body of %v: %v, %v", slow, res, err)
	}
	s.Log.AllowErrors()
	res, err = send(time.Minute, 500*time.Millisecond, 10)
	if err == nil && res.StatusCode != http.StatusBadRequest {
		t.Errorf("a body that trickles: %v", res.Status)
	}
	freed(t, s)
}

// A request canceled by the client while its body arrives is not a server error.
func TestBodyTakenBack(t *testing.T) {
	t.Parallel()
	s, certFile := apitest.StartTLS(t, db.SQLite)
	garden(t, s)
	for name, leave := range map[string]func(*load.HTTP2){
		"reset":     func(a *load.HTTP2) { a.WriteRSTStream(1, http2.ErrCodeCancel) },
		"cut off":   func(a *load.HTTP2) { a.Drop() },
		"too short": func(a *load.HTTP2) { a.WriteData(1, true, []byte("{")) },
	} {
		token := s.Token(t, "alice")
		testkit.Eventually(t, func() bool { return s.Server.InFlight() == 0 }, "earlier requests end")
		a := dialH2(t, s, certFile, "127.0.0.7")
		if err := a.Request(1, false, "POST", "/repos/alice/garden/issues", "content-length", "1000",
			"authorization", "Bearer "+token); err != nil {
			t.Fatal(name, err)
		}
		a.WriteData(1, false, []byte(`{"title": `))
		testkit.Eventually(t, func() bool { return s.Server.InFlight() > 0 }, "the request is served")
		leave(a)
	}
	testkit.Eventually(t, func() bool { return len(s.Log.Requests()) == 3 }, "three lines in the log")
	for _, r := range s.Log.Requests() {
		if r.Status != 499 && r.Status != 400 {
			t.Errorf("logged as %d", r.Status)
		}
	}
}

// Connections that never finish their handshake are counted from their first byte. However many they
// are, they leave room to other networks. That they end, package load holds.
func TestHandshakesThatNeverEnd(t *testing.T) {
	t.Parallel()
	const most = int64(16) // a slow machine accepts a network's share before the first of them is given up
	s, certFile := apitest.StartTLS(t, db.SQLite, places(int(most)))
	s.Log.AllowErrors()
	open, turned := s.Admitted.Open()
	for end := time.Now().Add(testkit.Patience); turned == 0 && time.Now().Before(end); {
		// of a ClientHello
		load.Open(t, s.Address, "127.0.0.7", int(most), "\x16\x03\x01\x02\x00\x01")
		open, turned = s.Admitted.Open()
	}
	if turned == 0 || open > most/2+1 {
		t.Errorf("one network has %d of %d connections open, %d were turned away", open, most, turned)
	}
	serves(t, s, certFile)
}

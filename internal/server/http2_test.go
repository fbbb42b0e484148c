package server_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/test/testenv"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// h2 is a client of HTTP/2 that does what no decent client does.
type h2 struct {
	*http2.Framer
	conn *tls.Conn
	head bytes.Buffer
	hp   *hpack.Encoder
}

// dialH2 connects from an address of this machine. Settings come before anything else.
func dialH2(t *testing.T, s *apitest.Server, certFile, from string, settings ...http2.Setting) *h2 {
	t.Helper()
	config := testkit.Trusting(t, certFile)
	config.NextProtos = []string{"h2"}
	d := &tls.Dialer{Config: config, NetDialer: &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)},
		Timeout: testkit.Patience}}
	c, err := d.DialContext(t.Context(), "tcp", s.Address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	a := &h2{Framer: http2.NewFramer(c, c), conn: c.(*tls.Conn)}
	a.AllowIllegalWrites = true
	a.hp = hpack.NewEncoder(&a.head)
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	if err := a.WriteSettings(settings...); err != nil {
		t.Fatal(err)
	}
	return a
}

// request sends the head of a request, and no body.
func (a *h2) request(stream uint32, end bool, method, path string, headers ...string) error {
	a.head.Reset()
	field := func(name, value string) { a.hp.WriteField(hpack.HeaderField{Name: name, Value: value}) }
	field(":method", method)
	field(":scheme", "https")
	field(":authority", "localhost")
	field(":path", path)
	for i := 0; i < len(headers); i += 2 {
		field(headers[i], headers[i+1])
	}
	return a.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: a.head.Bytes(),
		EndStream: end, EndHeaders: true})
}

// until reads frames until one is found, or the connection ends.
func (a *h2) until(within time.Duration, found func(http2.Frame) bool) error {
	a.conn.SetReadDeadline(time.Now().Add(within))
	for {
		f, err := a.ReadFrame()
		if err != nil {
			return err
		}
		if found(f) {
			return nil
		}
	}
}

// reset waits for the end of a stream, or of the connection, by the server.
func (a *h2) reset(stream uint32) error {
	err := a.until(testkit.Patience, func(f http2.Frame) bool {
		_, ok := f.(*http2.RSTStreamFrame)
		return ok && f.Header().StreamID == stream
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}

// refusals tells of each request that is answered by 429, until the connection ends.
func (a *h2) refusals(refused chan<- bool) {
	heads := hpack.NewDecoder(4096, nil)
	a.until(testkit.Patience, func(f http2.Frame) bool {
		if h, ok := f.(*http2.HeadersFrame); ok {
			fields, _ := heads.DecodeFull(h.HeaderBlockFragment())
			if len(fields) > 0 && fields[0].Value == "429" {
				refused <- true
			}
		}
		return false
	})
}

// closed waits for the end of the connection by the server.
func (a *h2) closed(within time.Duration) error {
	err := a.until(within, func(http2.Frame) bool { return false })
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
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
	var all []*h2
	for range 8 {
		all = append(all, dialH2(t, s, certFile, "127.0.0.7"))
	}
	for _, a := range all {
		for i := range uint32(100) {
			if err := a.request(1+2*i, false, "POST", "/alice/garden.git/git-upload-pack",
				"content-length", "1000", "content-type",
				"application/x-git-upload-pack-request"); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Which connection holds the network's share is left to chance, so all are read.
	refused, read := make(chan bool, 800), sync.WaitGroup{}
	defer read.Wait()
	for _, a := range all {
		defer a.conn.Close()
		read.Go(func() { a.refusals(refused) })
	}
	for i, late := 0, time.After(testkit.Patience); i < 600; i++ {
		select {
		case <-refused:
		case <-late:
			t.Fatalf("%d of 800 requests of a network that may have %d are refused", i, most/2)
		}
	}
	if open, turned := s.Admitted.Open(); turned == 0 || open > most/2+10 {
		t.Errorf("one network has %d open of %d, %d were turned away", open, most, turned)
	}
	other := dialH2(t, s, certFile, "127.9.9.9")
	if err := other.request(1, true, "GET", "/healthz"); err != nil {
		t.Fatal(err)
	}
	if err := other.until(testkit.Patience, func(f http2.Frame) bool {
		_, ok := f.(*http2.DataFrame)
		return ok
	}); err != nil {
		t.Errorf("another network is not served: %v", err)
	}
	freed(t, s) // bodies that never come
	for _, a := range all {
		a.conn.Close()
	}
	testkit.Eventually(t, func() bool { open, _ := s.Admitted.Open(); return open <= 1 }, "none is counted")
}

// A client that opens streams and takes them back at once makes the server begin work
// for nothing (CVE-2023-44487).
func TestRapidReset(t *testing.T) {
	t.Parallel()
	s, certFile := apitest.StartTLS(t, db.SQLite)
	garden(t, s)
	s.Log.AllowErrors()
	a := dialH2(t, s, certFile, "127.0.0.7")
	go func() {
		for i := range uint32(50_000) {
			if a.request(1+2*i, true, "GET", "/repos/alice/garden/issues") != nil {
				return
			}
			if a.WriteRSTStream(1+2*i, http2.ErrCodeCancel) != nil {
				return
			}
		}
	}()
	for range 5 {
		soon(t, s, "beside rapid resets", apitest.Case{Do: "GET /repos/alice/garden", As: "alice",
			Status: 200})
	}
	a.conn.Close()
	freed(t, s)
}

// Floods of frames that cost the sender nothing end with the connection, or cost the
// server nothing either.
func TestFloodsOfFrames(t *testing.T) {
	t.Parallel()
	s, certFile := apitest.StartTLS(t, db.SQLite)
	garden(t, s)
	s.Log.AllowErrors()
	for name, flood := range map[string]func(a *h2, n int) error{
		"continuations": func(a *h2, n int) error {
			if n == 0 {
				a.head.Reset()
				a.hp.WriteField(hpack.HeaderField{Name: ":method", Value: "GET"})
				return a.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: a.head.Bytes()})
			}
			a.head.Reset()
			a.hp.WriteField(hpack.HeaderField{Name: fmt.Sprint("x-", n), Value: strings.Repeat("v", 8000),
				Sensitive: true})
			return a.WriteContinuation(1, false, a.head.Bytes())
		},
		"settings": func(a *h2, _ int) error { return a.WriteSettings() },
		"pings":    func(a *h2, _ int) error { return a.WritePing(false, [8]byte{}) },
		"a large frame": func(a *h2, n int) error {
			if n > 0 {
				time.Sleep(10 * time.Millisecond)
				return a.WritePing(false, [8]byte{})
			}
			return a.WriteRawFrame(0xbb, 0, 0, make([]byte, 1<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := dialH2(t, s, certFile, "127.0.0.7")
			a.conn.SetWriteDeadline(time.Now().Add(testkit.Patience))
			var err error
			for n := 0; n < 500_000 && err == nil; n++ { // nothing is read
				err = flood(a, n)
			}
			if name == "settings" { // one answer stands for all that came meanwhile
				soon(t, s, "beside a flood", apitest.Case{Do: "GET /meta", Status: 200})
			} else if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the server goes on: %v", err)
			}
		})
	}
}

// A client that takes no bytes of a stream, of a connection or off its socket lets go of
// what its request holds: the server ends the stream, or the connection.
func TestStreamsThatAreNotRead(t *testing.T) {
	t.Parallel()
	s, certFile := apitest.StartTLS(t, db.SQLite, memory(1<<30))
	s.Log.AllowErrors()
	s.User(t, "alice")
	s.Import(t, s.Repo(t, "alice/garden", false), large(t))
	file := func(a *h2, streams uint32) {
		for i := range streams {
			if err := a.request(1+2*i, true, "GET", "/repos/alice/garden/contents/large.txt", "accept",
				"application/vnd.github.raw"); err != nil {
				t.Fatal(err)
			}
		}
	}
	none := dialH2(t, s, certFile, "127.0.0.7", http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
	file(none, 1)
	some := dialH2(t, s, certFile, "127.0.0.7") // 64 KB of the connection, and no more
	file(some, 2)
	wide := dialH2(t, s, certFile, "127.0.0.7",
		http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 30})
	wide.WriteWindowUpdate(0, 1<<30)
	file(wide, 4) // and the socket is not read
	soon(t, s, "beside them", apitest.Case{Do: "GET /repos/alice/garden", As: "alice", Status: 200})
	if err := none.reset(1); err != nil {
		t.Errorf("a stream without a window: %v", err)
	}
	if err := some.reset(3); err != nil {
		t.Errorf("a connection without a window: %v", err)
	}
	freed(t, s)
	if err := wide.closed(testkit.Patience); err != nil {
		t.Errorf("a socket that is not read: %v", err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
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

// A client that takes its request back while the body comes is no error of the server.
func TestBodyTakenBack(t *testing.T) {
	t.Parallel()
	s, certFile := apitest.StartTLS(t, db.SQLite)
	garden(t, s)
	for name, leave := range map[string]func(*h2){
		"reset":     func(a *h2) { a.WriteRSTStream(1, http2.ErrCodeCancel) },
		"cut off":   func(a *h2) { a.conn.NetConn().Close() },
		"too short": func(a *h2) { a.WriteData(1, true, []byte("{")) },
	} {
		a := dialH2(t, s, certFile, "127.0.0.7")
		if err := a.request(1, false, "POST", "/repos/alice/garden/issues", "content-length", "1000",
			"authorization", "Bearer "+s.Token(t, "alice")); err != nil {
			t.Fatal(name, err)
		}
		a.WriteData(1, false, []byte(`{"title": `))
		time.Sleep(200 * time.Millisecond)
		leave(a)
	}
	testkit.Eventually(t, func() bool { return len(s.Log.Requests()) == 3 }, "three lines in the log")
	for _, r := range s.Log.Requests() {
		if r.Status != 499 && r.Status != 400 {
			t.Errorf("logged as %d", r.Status)
		}
	}
}

// Connections that never finish their handshake are counted from their first byte, and end.
// However many they are, they leave room to other networks.
func TestHandshakesThatNeverEnd(t *testing.T) {
	t.Parallel()
	const most = int64(16) // a slow machine accepts a network's share before the first of them is given up
	s, certFile := apitest.StartTLS(t, db.SQLite, places(int(most)))
	s.Log.AllowErrors()
	var conns []net.Conn
	open, turned := s.Admitted.Open()
	for end := time.Now().Add(testkit.Patience); turned == 0 && time.Now().Before(end); {
		// of a ClientHello
		conns = append(conns, besiege(t, s, "127.0.0.7", int(most), "\x16\x03\x01\x02\x00\x01")...)
		open, turned = s.Admitted.Open()
	}
	if turned == 0 || open > most/2+1 {
		t.Errorf("one network has %d of %d connections open, %d were turned away", open, most, turned)
	}
	other := dialH2(t, s, certFile, "127.9.9.9")
	if err := other.request(1, true, "GET", "/healthz"); err != nil {
		t.Fatal(err)
	}
	if err := other.until(testkit.Patience, func(f http2.Frame) bool {
		_, ok := f.(*http2.DataFrame)
		return ok
	}); err != nil {
		t.Errorf("another network is not served: %v", err)
	}
	for _, c := range conns {
		c.SetReadDeadline(time.Now().Add(testkit.Patience))
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("a handshake is waited for without end")
		}
	}
}

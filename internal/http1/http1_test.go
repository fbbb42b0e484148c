package http1

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// served is a server of a test.
type served struct {
	*Server
	address string
	ended   chan error
	logged  *lines
}

// lines is a log that a test can read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// start serves a handler. change, perhaps nil, sets limits.
func start(t testing.TB, h http.HandlerFunc, change func(*http.Server)) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	logged := &lines{}
	server := &http.Server{Handler: h, IdleTimeout: time.Minute, ReadHeaderTimeout: time.Minute, WriteTimeout: time.Minute,
		ErrorLog: log.New(logged, "", 0)}
	if change != nil {
		change(server)
	}
	s := &served{New(server), l.Addr().String(), make(chan error, 1), logged}
	go func() { s.ended <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		select {
		case err := <-s.ended:
			if !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Error("Serve goes on after Close")
		}
	})
	return s
}

// patience is after what a test gives up.
const patience = 10 * time.Second

// client is a connection whose every byte a test decides on.
type client struct {
	net.Conn
	t   testing.TB
	in  *bufio.Reader
	all strings.Builder // what has come
}

func dial(t testing.TB, address string) *client {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	k := &client{Conn: c, t: t}
	k.in = bufio.NewReader(io.TeeReader(c, &k.all))
	return k
}

func (c *client) send(text string) {
	c.t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		c.t.Fatal(err)
	}
}

// answer reads an answer and its body.
func (c *client) answer(method string) (*http.Response, string) {
	c.t.Helper()
	r, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		c.t.Fatalf("%v after %q", err, c.all.String())
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		c.t.Fatalf("%v after %q", err, c.all.String())
	}
	return r, string(body)
}

// isAnswered demands an answer with the body.
func (c *client) isAnswered(body string) {
	c.t.Helper()
	if r, got := c.answer("GET"); r.StatusCode != 200 || got != body {
		c.t.Fatalf("%d %q, not %q", r.StatusCode, got, body)
	}
}

// isClosed demands that nothing more comes.
func (c *client) isClosed() {
	c.t.Helper()
	rest, err := io.ReadAll(c.in)
	if len(rest) > 0 || isTimeout(err) {
		c.t.Fatalf("the connection goes on: %q %v", rest, err)
	}
}

const get = "GET /%s HTTP/1.1\r\nHost: h\r\n\r\n"

// echo answers with the path and the body.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, body)
	if err != nil {
		fmt.Fprint(w, err)
	}
}

// handedOver counts the connections that net/http got.
func handedOver(s *http.Server) func() int {
	var mu sync.Mutex
	n := 0
	s.ConnState = func(_ net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if state == http.StateNew {
			n++
		}
	}
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

// Requests may come in any pieces, and many at once.
func TestPieces(t *testing.T) {
	var others func() int
	s := start(t, echo, func(h *http.Server) { others = handedOver(h) })
	text := "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello" + fmt.Sprintf(get, "b") +
		"PUT /c HTTP/1.1\r\nHost: h\r\nContent-Length: 5000\r\n\r\n" + strings.Repeat("x", 5000) + fmt.Sprintf(get, "d")
	for _, size := range []int{1, 2, 3, 7, 50, 51, 52, 100, 1000, 4096, len(text)} {
		c := dial(t, s.address)
		go func() {
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				io.WriteString(c, rest[:n])
				rest = rest[n:]
				if size < 100 && len(rest) < 5100 && len(rest) > 100 {
					size = 1000 // what matters is over
				}
			}
		}()
		c.isAnswered("POST /a hello")
		c.isAnswered("GET /b ")
		c.isAnswered("PUT /c " + strings.Repeat("x", 5000))
		c.isAnswered("GET /d ")
	}
	if n := others(); n > 0 {
		t.Errorf("%d of the connections went to net/http", n)
	}
}

// A connection that asks for more than plain requests has all of its answers.
func TestHandover(t *testing.T) {
	for _, text := range []string{
		"POST /x HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		"POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: keep-alive, x\r\n\r\nabc",
		"POST http://h/x HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc",
		"POST /x HTTP/1.1\r\nHost: h\r\nX-Large: " + strings.Repeat("y", 20_000) + "\r\nContent-Length: 3\r\n\r\nabc",
		"POST /x HTTP/1.1\r\nHost: h\r\nX-Large: " + strings.Repeat("y", maxPlain-58) + "\r\nContent-Length: 3\r\n\r\nabc",
	} {
		var others func() int
		s := start(t, echo, func(h *http.Server) { others = handedOver(h) })
		c := dial(t, s.address)
		c.send(fmt.Sprintf(get, "a") + text + fmt.Sprintf(get, "b"))
		c.isAnswered("GET /a ")
		c.isAnswered("POST /x abc")
		c.isAnswered("GET /b ")
		c.send(fmt.Sprintf(get, "c"))
		c.isAnswered("GET /c ")
		if n := others(); n != 1 {
			t.Errorf("%d connections went to net/http: %.100q", n, text)
		}
	}
}

// net/http refuses what is no request, here as there.
func TestNoRequest(t *testing.T) {
	s := start(t, echo, nil)
	for _, text := range []string{"GET / HTTP/1.1\r\n\r\n", "what?\r\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"} {
		c := dial(t, s.address)
		c.send(text)
		if r, _ := c.answer("GET"); r.StatusCode != http.StatusBadRequest {
			t.Errorf("%d for %q", r.StatusCode, text)
		}
		c.isClosed()
	}
}

// Who says that no more comes is answered still, be it that his request is not whole.
func TestHalfClosed(t *testing.T) {
	s := start(t, echo, nil)
	for text, status := range map[string]int{
		fmt.Sprintf(get, "a"):                                         200,
		"GET /a HTTP/1.1\nHost: h\n\n":                                200,
		"GET /a HTTP/1.0\r\n\r\n":                                     200,
		"GET /a HTTP/1.1\r\nHost: h\r\n":                              400,
		"POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nabc": 200, // echo shows the error
	} {
		c := dial(t, s.address)
		c.send(text)
		if err := c.Conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if r, body := c.answer("GET"); r.StatusCode != status {
			t.Errorf("%d %q for %q", r.StatusCode, body, text)
		}
		c.isClosed()
	}
}

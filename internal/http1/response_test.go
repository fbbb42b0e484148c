package http1

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"
)

// step is something that a handler does.
type step func(w http.ResponseWriter, r *http.Request)

func set(name, value string) step {
	return func(w http.ResponseWriter, _ *http.Request) { w.Header().Set(name, value) }
}

func status(code int) step {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func write(text string) step {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func flush(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }

// steps are what random handlers are made of. All of it is allowed in any order.
var steps = []struct {
	name string
	do   step
}{
	{"type", set("Content-Type", "text/x")},
	{"encoding", set("Content-Encoding", "gzip")},
	{"no encoding", set("Content-Encoding", "")},
	{"two lines", set("X-Split", "a\r\nX-Other: b")},
	{"blanks", set("X-Blanks", "  a\t")},
	{"no name", set("X Y", "a")},
	{"date", set("Date", "Sat, 21 Nov 2026 00:00:00 GMT")},
	{"close", set("Connection", "close")},
	{"many", func(w http.ResponseWriter, _ *http.Request) { w.Header()["X-Many"] = []string{"1", "", "2"} }},
	{"length 5", set("Content-Length", "5")},
	{"length 0", set("Content-Length", "0")},
	{"200", status(200)}, {"201", status(201)}, {"204", status(204)}, {"304", status(304)}, {"404", status(404)},
	{"hello", write("hello")}, {"nothing", write("")}, {"html", write("<html><p>")},
	{"large", write(strings.Repeat("large ", 1000))},
	{"larger", write(strings.Repeat("larger", 10_000))},
	{"flush", flush},
	{"read", func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) }},
}

// Answers of all kinds of handlers mean the same as those of net/http.
func TestAnswers(t *testing.T) {
	h := func(w http.ResponseWriter, r *http.Request) {
		for _, i := range r.URL.Path[1:] {
			steps[i-'A'].do(w, r)
		}
	}
	ours := start(t, h, nil)
	theirs := httptest.NewUnstartedServer(http.HandlerFunc(h))
	theirs.Config.ErrorLog = ours.HTTP.ErrorLog
	theirs.Start()
	defer theirs.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 2000 {
		script := "/" // a letter for each step
		if n < len(steps) {
			script += string(rune('A' + n))
		} else {
			for range random.IntN(6) {
				script += string(rune('A' + random.IntN(len(steps))))
			}
		}
		method := []string{"GET", "HEAD", "POST", "DELETE"}[random.IntN(4)]
		got, want := outcome(t, ours.address, method, script), outcome(t, theirs.Listener.Addr().String(), method, script)
		if !reflect.DeepEqual(got, want) {
			var names []string
			for _, i := range script[1:] {
				names = append(names, steps[i-'A'].name)
			}
			t.Fatalf("%s, handler %q:\n%+v\nof net/http:\n%+v", method, names, got, want)
		}
	}
}

// answered is what a client sees of an answer.
type answered struct {
	Status   int
	Header   http.Header
	Length   int64
	Encoding []string
	Close    bool
	Body     string
	Err      bool // the body is not complete
	Next     bool // another request is answered on the connection
}

func outcome(t *testing.T, address, method, path string) *answered {
	t.Helper()
	c := dial(t, address)
	defer c.Close()
	body := ""
	if method == "POST" {
		body = "some"
	}
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s", method, path, len(body), body)
	c.send(text)
	r, err := http.ReadResponse(c.in, &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	got := &answered{Status: r.StatusCode, Header: r.Header, Length: r.ContentLength, Encoding: r.TransferEncoding, Close: r.Close}
	all, err := io.ReadAll(r.Body)
	got.Body, got.Err = string(all), err != nil
	if dated, err := http.ParseTime(r.Header.Get("Date")); err != nil || r.Header.Get("Date") != "Sat, 21 Nov 2026 00:00:00 GMT" && time.Since(dated).Abs() > time.Minute {
		t.Errorf("Date: %q", r.Header.Get("Date"))
	}
	r.Header.Set("Date", "")
	if err == nil && !r.Close {
		if _, err := io.WriteString(c, text); err == nil {
			_, err = http.ReadResponse(c.in, &http.Request{Method: method})
			got.Next = err == nil
		}
	}
	return got
}

// A body that was promised and does not come breaks the connection, so that
// nobody takes the next answer for the rest of it.
func TestShortBody(t *testing.T) {
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "10")
		fmt.Fprint(w, "short")
	}, nil)
	c := dial(t, s.address)
	c.send(fmt.Sprintf(get, "a") + fmt.Sprintf(get, "b"))
	all, err := io.ReadAll(c.in)
	if !strings.HasSuffix(string(all), "\r\n\r\nshort") || isTimeout(err) {
		t.Errorf("%q %v", all, err)
	}
}

// What was flushed arrives while the handler goes on.
func TestFlush(t *testing.T) {
	goOn := make(chan struct{})
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		for range 3 {
			fmt.Fprint(w, "part")
			if err := c.Flush(); err != nil {
				t.Error(err)
			}
			<-goOn
			if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
				t.Error(err)
			}
		}
	}, nil)
	c := dial(t, s.address)
	c.send(fmt.Sprintf(get, "a"))
	r, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		part := make([]byte, 4)
		if _, err := io.ReadFull(r.Body, part); err != nil || string(part) != "part" {
			t.Fatalf("%q %v", part, err)
		}
		goOn <- struct{}{}
	}
	if n, err := r.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Error(n, err)
	}
}

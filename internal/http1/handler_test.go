package http1

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Who hangs up ends the context of a handler that takes long; who sends more
// meanwhile is answered later.
func TestHangUp(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/long" {
			echo(w, r)
			return
		}
		begun <- struct{}{}
		select {
		case <-r.Context().Done():
			ended <- r.Context().Err()
		case <-time.After(5 * watchTick):
			fmt.Fprint(w, "long")
		}
	}, nil)
	c := dial(t, s.address)
	for range 2 {
		c.send(fmt.Sprintf(get, "long"))
		<-begun
		c.send(fmt.Sprintf(get, "a"))
		c.isAnswered("long")
		c.isAnswered("GET /a ")
	}
	c.send(fmt.Sprintf(get, "long"))
	<-begun
	c.Close()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the handler never learned that its client had hung up")
	}
}

// That somebody hung up is noticed also when the time for a request to come is long over.
func TestHangUpLate(t *testing.T) {
	const short = 2 * watchTick
	begun, ended := make(chan struct{}), make(chan struct{})
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
		close(ended)
	}, func(h *http.Server) { h.ReadHeaderTimeout = short })
	c := dial(t, s.address)
	c.send(fmt.Sprintf(get, "long"))
	<-begun
	time.Sleep(3 * short)
	c.Close()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the handler never learned that its client had hung up")
	}
}

// The goroutine that looks ends when nobody asks, and begins again.
func TestLookEnds(t *testing.T) {
	s := start(t, echo, nil)
	c := dial(t, s.address)
	for range 2 {
		c.send(fmt.Sprintf(get, "a"))
		c.isAnswered("GET /a ")
		if !s.watch.on.Load() {
			t.Error("nobody looks")
		}
		for end := time.Now().Add(patience); s.watch.on.Load(); time.Sleep(watchTick) {
			if time.Now().After(end) {
				t.Fatal("somebody looks for ever")
			}
		}
	}
}

func TestPanics(t *testing.T) {
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "half of ")
		switch r.URL.Path {
		case "/abort":
			panic(http.ErrAbortHandler)
		case "/exit":
			runtime.Goexit() // as FailNow does in a test's handler
		}
		panic("a fault of " + r.URL.Path)
	}, nil)
	for _, path := range []string{"abort", "exit", "fault"} {
		c := dial(t, s.address)
		c.send(fmt.Sprintf(get, path))
		c.isClosed()
	}
	if text := s.logged.String(); strings.Contains(text, "abort") || !strings.Contains(text, "a fault of /fault") || !strings.Contains(text, "handler_test.go") {
		t.Errorf("the log of panics: %q", text)
	}
}

// A goroutine that a handler left behind can spoil no later answer.
func TestLeftBehind(t *testing.T) {
	var old http.ResponseWriter
	var read io.Reader
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		if old != nil {
			if _, err := old.Write([]byte("late")); err == nil {
				t.Error("Write after the handler returned")
			}
			if err := http.NewResponseController(old).Flush(); err == nil {
				t.Error("Flush after the handler returned")
			}
			if n, err := read.Read(make([]byte, 10)); n > 0 || err == nil {
				t.Error("the body is read after the handler returned")
			}
			old.WriteHeader(500)
		}
		old, read = w, r.Body
		if r.Context().Err() != nil {
			t.Error("the context has ended")
		}
		fmt.Fprint(w, r.URL.Path)
	}, nil)
	c := dial(t, s.address)
	for range 3 {
		c.send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc")
		c.isAnswered("/a")
	}
}

// A goroutine that still reads the body when its handler has returned sees
// nothing of the requests that are read into the same memory.
func TestBodyLeftBehind(t *testing.T) {
	var readers sync.WaitGroup
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		body, want := r.Body, r.Header.Get("X-Is")
		r.Body = nil // which is a handler's right, too
		readers.Go(func() {
			p := make([]byte, 1)
			for {
				if _, err := body.Read(p); err != nil {
					return
				} else if string(p) != want {
					t.Errorf("%q of another request, not %q", p, want)
					return
				}
			}
		})
	}, nil)
	c := dial(t, s.address)
	for i := range 50 {
		is := string(rune('a' + i%26))
		c.send("POST /a HTTP/1.1\r\nHost: h\r\nX-Is: " + is + "\r\nContent-Length: 10000\r\n\r\n" + strings.Repeat(is, 10000))
		c.isAnswered("")
	}
	readers.Wait()
}

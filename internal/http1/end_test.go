package http1

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestShutdown(t *testing.T) {
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/long" {
			begun <- struct{}{}
			<-goOn
		}
		echo(w, r)
	}, nil)
	idle, fresh, busy, other := dial(t, s.address), dial(t, s.address), dial(t, s.address), dial(t, s.address)
	idle.send(fmt.Sprintf(get, "a"))
	idle.isAnswered("GET /a ")
	busy.send(fmt.Sprintf(get, "long"))
	other.send("GET /long HTTP/1.1\r\nHost: h\r\nPragma: no-cache\r\n\r\n") // net/http's
	<-begun
	<-begun
	short, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := s.Shutdown(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown does not wait: %v", err)
	}
	done := make(chan error)
	go func() { done <- s.Shutdown(context.Background()) }()
	idle.isClosed()
	fresh.isClosed()
	if c, err := net.Dial("tcp", s.address); err == nil {
		c.Close()
		t.Error("connections are accepted after Shutdown")
	}
	close(goOn)
	for _, c := range []*client{busy, other} {
		if r, body := c.answer("GET"); body != "GET /long " || !r.Close {
			t.Errorf("the last answer: %q, close %v", body, r.Close)
		}
		c.isClosed()
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A server may stop at the moment in which handlers that were watched return.
func TestShutdownAtEnd(t *testing.T) {
	for range 10 {
		goOn := make(chan struct{})
		s := start(t, func(w http.ResponseWriter, r *http.Request) { <-goOn }, nil)
		clients := make([]*client, 20)
		for i := range clients {
			clients[i] = dial(t, s.address)
			clients[i].send(fmt.Sprintf(get, "a"))
		}
		time.Sleep(3 * watchTick)
		close(goOn)
		if err := s.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
		for _, c := range clients {
			c.isAnswered("")
			c.isClosed()
		}
	}
}

// Close ends the contexts of what runs, here and in net/http.
func TestClose(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		begun <- struct{}{}
		<-r.Context().Done()
		ended <- struct{}{}
	}, nil)
	c := dial(t, s.address)
	c.send(fmt.Sprintf(get, "a"))
	<-begun
	s.Close()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the handler goes on after Close")
	}
	c.isClosed()
}

func TestTimeouts(t *testing.T) {
	const short = 100 * time.Millisecond
	s := start(t, echo, func(h *http.Server) { h.IdleTimeout, h.ReadHeaderTimeout = short, short })
	idle := dial(t, s.address)
	for range 5 {
		time.Sleep(short / 2) // which is not idle for long
		idle.send(fmt.Sprintf(get, "a"))
		idle.isAnswered("GET /a ")
	}
	idle.isClosed()
	dial(t, s.address).isClosed()
	half := dial(t, s.address)
	half.send("GET /a HTTP/1.1\r\nHost: h\r\n")
	half.isClosed()
}

// A deadline that a handler sets is for its own answer.
func TestWriteDeadline(t *testing.T) {
	for _, timeout := range []time.Duration{0, time.Minute} {
		s := start(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "1")
			fmt.Fprint(w, "x")
			c := http.NewResponseController(w)
			if err := errors.Join(c.Flush(), c.SetWriteDeadline(longAgo)); err != nil {
				t.Error(err)
			}
		}, func(h *http.Server) { h.WriteTimeout = timeout })
		c := dial(t, s.address)
		for range 3 {
			c.send(fmt.Sprintf(get, "a"))
			c.isAnswered("x")
		}
	}
}

// Who does not read what he asked for does not keep the server for ever.
func TestWriteTimeout(t *testing.T) {
	ended := make(chan error, 1)
	s := start(t, func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				<-r.Context().Done()
				ended <- err
				return
			}
		}
	}, func(h *http.Server) { h.WriteTimeout = 100 * time.Millisecond })
	c := dial(t, s.address)
	c.send(fmt.Sprintf(get, "a"))
	select {
	case err := <-ended:
		if !isTimeout(err) {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the handler writes for ever")
	}
}

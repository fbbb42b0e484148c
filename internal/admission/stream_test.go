package admission

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"arbor/internal/errs"
)

// A client of a conversation that is silent, or that reads nothing, loses its connection; one that was let
// think does not.
func TestPacedStream(t *testing.T) {
	t.Parallel()
	begin := func() (*PacedStream, net.Conn, chan struct{}) {
		ours, theirs := net.Pipe()
		hung := make(chan struct{})
		s := NewPacedStream(nil, ours, func() {
			close(hung)
			ours.Close()
		})
		t.Cleanup(func() {
			s.End()
			theirs.Close()
			ours.Close()
		})
		return s, theirs, hung
	}
	s, _, hung := begin()
	s.reading = 10 * time.Millisecond
	if _, err := s.Read(make([]byte, 1)); !errs.Is(err, errs.Malformed) {
		t.Errorf("a silent client: %v", err)
	}
	<-hung
	s, _, hung = begin()
	s.writing = -8 * time.Second // some was waited for before
	if _, err := s.Write(make([]byte, chunk)); !errs.Is(err, errs.Malformed) {
		t.Errorf("a client that reads nothing: %v", err)
	}
	<-hung
	s, client, hung := begin()
	s.reading = 0
	s.Pause(time.Hour)
	read := make(chan error, 1)
	go func() {
		_, err := s.Read(make([]byte, 1))
		read <- err
	}()
	if _, err := client.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil || s.reading != Grace {
		t.Errorf("a client that was let think: %v, %v", err, s.reading)
	}
	select {
	case <-hung:
		t.Error("it lost its connection")
	default:
	}
	client.Close()
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the end is %v", err)
	}
	if _, err := s.Write([]byte("x")); !errs.Is(err, errs.Canceled) {
		t.Errorf("a write to a client that is gone: %v", err)
	}
	s, client, hung = begin()
	s.reading = 0
	s.End()
	go client.Write([]byte("x"))
	if _, err := s.Read(make([]byte, 1)); err != nil {
		t.Errorf("behind the end: %v", err)
	}
	select {
	case <-hung:
		t.Error("who is not waited for lost its connection")
	default:
	}
}

// A client that sends or reads a byte a second loses its connection, also one that sent more at first; one that
// keeps the least rate does not.
func TestTrickle(t *testing.T) {
	for _, c := range []struct {
		name string
		rate int // bytes a second
		slow bool
	}{{"a byte a second", 1, true}, {"the least rate", minRate, false}} {
		synctest.Test(t, func(t *testing.T) {
			for _, sends := range []bool{true, false} {
				ours, theirs := net.Pipe()
				s := NewPacedStream(nil, ours, func() { ours.Close() })
				mine, do := s.Write, theirs.Read
				if sends {
					mine, do = s.Read, theirs.Write
				}
				go func() {
					_, err := do(make([]byte, minRate))
					for ; err == nil; time.Sleep(time.Second) {
						_, err = do(make([]byte, c.rate))
					}
				}()
				var err error
				for began := time.Now(); err == nil && time.Since(began) < time.Minute; {
					_, err = mine(make([]byte, minRate))
				}
				if errs.Is(err, errs.Malformed) != c.slow {
					t.Errorf("%s, sends %v: %v", c.name, sends, err)
				}
				theirs.Close()
				ours.Close()
			}
			time.Sleep(time.Minute)
		})
	}
}

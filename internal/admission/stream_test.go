package admission

import (
	"errors"
	"io"
	"net"
	"testing"
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

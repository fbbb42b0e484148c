package main

import (
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// ask sends requests, and gives the ids of their answers.
func (s *instance) ask(count int) []string {
	s.t.Helper()
	ids := make([]string, count)
	for i := range ids {
		a, err := http.Get(s.url + "/rate_limit")
		testkit.NoError(s.t, err)
		_, _ = io.Copy(io.Discard, a.Body)
		a.Body.Close()
		ids[i] = a.Header.Get("X-Request-Id")
	}
	return ids
}

// logged demands that each of the requests is in the log.
func (s *instance) logged(ids []string) {
	s.t.Helper()
	text := s.log.String()
	for i, id := range ids {
		if !strings.Contains(text, id) {
			s.t.Fatalf("request %d of %d is not in the log", i+1, len(ids))
		}
	}
}

// An operator who stops a server finds each of its requests in the log, also
// the last, whatever it was stopped by.
func TestStopLosesNoLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		signal syscall.Signal
		flags  []string
	}{{"serve", syscall.SIGTERM, nil}, {"ephemeral", syscall.SIGINT, []string{"--ephemeral"}},
		{"JSON", syscall.SIGTERM, []string{"--log-format", "json"}}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newInstance(t, db.SQLite)
			s.start(c.flags...)
			ids := s.ask(30)
			testkit.NoError(t, s.server.Process.Signal(c.signal))
			if err := s.wait(); err != nil {
				t.Errorf("%v: %v", c.signal, err)
			}
			s.logged(ids)
			s.log = &logBuffer{} // its lines in the form of JSON are none of text
		})
	}
}

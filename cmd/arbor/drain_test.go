package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// A server that is told to stop says so to balancers and goes on answering, so that what they still send
// arrives.
func TestShutdownDelay(t *testing.T) {
	t.Parallel()
	s := newInstance(t, db.SQLite)
	s.start("--shutdown-delay", "1h")
	fresh := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ask := func(path string) int {
		res, err := fresh.Get(s.url + path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if got := ask("/readyz"); got != http.StatusOK {
		t.Errorf("at first /readyz is %d", got)
	}
	testkit.NoError(t, syscall.Kill(s.pid(), syscall.SIGTERM))
	testkit.Eventually(t, func() bool { return ask("/readyz") == http.StatusServiceUnavailable },
		"/readyz answers 503")
	if got := ask("/meta"); got != http.StatusOK {
		t.Errorf("a request to a server that was told to stop: %d", got)
	}
	testkit.Eventually(t, func() bool { // who does not want to wait says it again
		return s.server.Process.Signal(syscall.SIGTERM) != nil
	}, "the end after more signals")
	if err := s.wait(); err == nil || !strings.Contains(err.Error(), "terminated") {
		t.Errorf("a second signal ended the server with %v", err)
	}
	s.start("--shutdown-delay", "1ms")
	s.stop()
}

package main

import (
	"net/http"
	"syscall"
	"testing"

	"arbor/internal/db"
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
	if err := syscall.Kill(s.pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() bool { return ask("/readyz") == http.StatusServiceUnavailable },
		func() string { return "/readyz is not 503" })
	if got := ask("/meta"); got != http.StatusOK {
		t.Errorf("a request to a server that was told to stop: %d", got)
	}
	if err := syscall.Kill(s.pid(), syscall.SIGTERM); err != nil { // who does not want to wait says it again
		t.Fatal(err)
	}
	eventually(t, func() bool { _, err := fresh.Get(s.url + "/meta"); return err != nil },
		func() string { return "it still answers after a second signal" })
	s.kill()
	s.start("--shutdown-delay", "1ms")
	s.stop()
}

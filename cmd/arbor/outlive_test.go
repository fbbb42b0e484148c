package main

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/testkit"
)

// The end of a terminal, a program that reloads what it knows, and a log whose reader died end no server:
// requests would break off, and nothing would say why.
func TestServerOutlivesItsSession(t *testing.T) {
	t.Parallel()
	// Where the tests run under nohup, processes would inherit that SIGHUP is ignored; of a signal that is
	// caught they do not.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(caught) })
	s := serving(t, db.SQLite)
	for range 3 {
		testkit.NoError(t, syscall.Kill(s.pid(), syscall.SIGHUP))
	}
	testkit.Eventually(t, func() bool { return strings.Contains(s.log.String(), "SIGHUP changes nothing") },
		"a line about the signal", s.log.String)
	if res, text := s.do("", "GET", "/meta", nil, nil); res.StatusCode != http.StatusOK {
		t.Errorf("after SIGHUP: %d %s", res.StatusCode, text)
	}
	s.stop()

	log, end, err := os.Pipe()
	testkit.NoError(t, err)
	cmd := exec.Command("arbor", "serve")
	cmd.Env, cmd.Stderr = s.env, end
	out, err := cmd.StdoutPipe()
	testkit.NoError(t, err)
	testkit.NoError(t, cmd.Start())
	end.Close()
	buf := make([]byte, 4096)
	n, _ := out.Read(buf)
	address, _, _ := strings.Cut(strings.TrimPrefix(string(buf[:n]), "arbor listens on "), "\n")
	log.Close()
	for range 20 { // each is a line of the log
		res, err := http.Get(address + "/meta")
		if err != nil {
			t.Fatalf("a server without a reader of its log: %v", err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

package server_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// A page in an operator's browser must not reach the admin address: neither by a
// name of its own that leads there, nor by sending a request off. A name that the
// operator gave, and the address itself, do.
func TestAdminAddressIsForOperators(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.AdminHost = "monitor.example" })
	l, err := server.Listen("127.0.0.1:0")
	testkit.NoError(t, err)
	socket, err := server.Listen("unix:" + filepath.Join(t.TempDir(), "admin"))
	testkit.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for _, listener := range []net.Listener{l, socket} {
		go func() { ended <- s.Server.ServeAdmin(ctx, listener) }()
	}
	defer func() {
		stop()
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	get := func(client *http.Client, host string, header http.Header) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"http://127.0.0.1:"+port+"/metrics", nil)
		testkit.NoError(t, err)
		r.Host = host
		for name, values := range header {
			r.Header[name] = values
		}
		a, err := client.Do(r)
		testkit.NoError(t, err)
		a.Body.Close()
		return a.StatusCode
	}
	for host, want := range map[string]int{
		"127.0.0.1:" + port: 200, "127.0.0.1": 200, "127.9.9.9:1": 200, "[::1]:" + port: 200,
		"localhost:" + port: 200, "LOCALHOST.": 200,
		"monitor.example:" + port: 200, "Monitor.example": 200,
		"rebound.example:" + port: 421, "localhost.rebound.example": 421, "127.0.0.1.rebound.example": 421,
		"10.1.2.3": 421, "[::ffff:10.1.2.3]": 421,
	} {
		if got := get(http.DefaultClient, host, nil); got != want {
			t.Errorf("Host %s: %d, want %d", host, got, want)
		}
	}
	own := "127.0.0.1:" + port
	for _, c := range []struct {
		header http.Header
		want   int
	}{
		{http.Header{"Origin": {"http://" + own}, "Sec-Fetch-Site": {"same-origin"}}, 200},
		{http.Header{"Sec-Fetch-Site": {"none"}}, 200},
		{http.Header{"Origin": {"http://elsewhere.example"}}, 403},
		{http.Header{"Origin": {"null"}}, 403},
		{http.Header{"Sec-Fetch-Site": {"cross-site"}}, 403},
		{http.Header{"Sec-Fetch-Site": {"same-site"}}, 403},
	} {
		if got := get(http.DefaultClient, own, c.header); got != c.want {
			t.Errorf("%v: %d, want %d", c.header, got, c.want)
		}
	}
	byPath := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket.Addr().String())
		}}}
	if got := get(byPath, "whatever", nil); got != 200 {
		t.Errorf("by the socket: %d, want 200", got)
	}
}

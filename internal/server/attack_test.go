package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/load"
	"arbor/internal/test/testkit"
)

// memory sets a server's memory limit.
func memory(bytes int64) apitest.Option {
	return func(o *server.Options) { o.Admission = admission.New(bytes, nil) }
}

// freed waits until nothing is held: the server ends attackers' requests.
func freed(t *testing.T, s *apitest.Server) {
	t.Helper()
	testkit.Eventually(t, func() bool {
		held := int64(0)
		for _, u := range s.Admitted.Usage() {
			held += u.Held
		}
		return held == 0
	}, "nothing is held", func() string { return fmt.Sprintf("%+v", s.Admitted.Usage()) })
}

// tryFrom asks for a path from an address of another network. The server may close the connection.
func tryFrom(t *testing.T, s *apitest.Server, from, as, path string) (int, error) {
	t.Helper()
	client := &http.Client{Timeout: testkit.Patience, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext}}
	r, err := http.NewRequest("GET", s.URL+path, nil)
	testkit.NoError(t, err)
	if as != "" {
		r.Header.Set("Authorization", "Bearer "+s.Token(t, as))
	}
	a, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	a.Body.Close()
	return a.StatusCode, nil
}

func pkt(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

// The rights of a request are checked after its body has come. A client whose body does
// not come loses its connection.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Log.AllowErrors()
		shed := s.Repo(t, "alice/shed", true)
		s.User(t, "mallory")
		s.Grant(t, shed, "mallory", account.Push)
		body := `{"title": "x"}`
		token := "Authorization: Bearer " + s.Token(t, "mallory")
		c := load.Open(t, s.Address, "127.0.0.7", 1, load.Head("POST /repos/alice/shed/issues", token,
			fmt.Sprintf("Content-Length: %d", len(body)))+body[:3])[0]
		time.Sleep(200 * time.Millisecond) // by then the credentials are known
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/shed/collaborators/mallory",
			As: "alice", Status: 204})
		io.WriteString(c, body[3:])
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || a.StatusCode != http.StatusNotFound {
			t.Errorf("who lost the right while the body came: %v, %v", a, err)
		}
		c = load.Open(t, s.Address, "127.0.0.7", 1,
			load.Head("POST /repos/alice/garden/issues", token, "Content-Length: 1000"))[0]
		c.SetReadDeadline(time.Now().Add(testkit.Patience))
		answer, err := io.ReadAll(c)
		if err != nil || bytes.HasPrefix(answer, []byte("HTTP/1.1 2")) {
			t.Errorf("a body that never comes is answered %q, %v", answer, err)
		}
	})
}

// Behind a proxy callers are distinguished for shares, rate limits and the log. Without --trust-proxy a
// caller cannot pretend to be another.
func TestTrustedProxy(t *testing.T) {
	t.Parallel()
	proxies, err := admission.ParseProxies("127.0.0.0/8")
	testkit.NoError(t, err)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		from := func(address string) map[string]string {
			return map[string]string{"X-Forwarded-For": "203.0.113.1, " + address,
				"X-Forwarded-Proto": "https", "X-Forwarded-Host": "code.example.org"}
		}
		for _, c := range []struct {
			address string
			status  int
		}{{"192.0.2.1", 200}, {"192.0.2.1", 200}, {"192.0.2.1", 403}, {"192.0.2.2", 200}} {
			s.Check(t, apitest.Case{Name: c.address, Do: "GET /users/alice", Status: c.status,
				Headers: from(c.address)})
		}
		s.Check(t, apitest.Case{Do: "GET /users/alice", As: "alice", Status: 200, Headers: from("192.0.2.1"),
			Want: `{"url": "https://code.example.org/users/alice"}`})
		logged(t, s, "address=192.0.2.1 caller=alice")
	}, func(o *server.Options) {
		o.Admission, o.RateLimit = admission.New(admission.DefaultMemory, proxies), 2
	})
}

// The log names the caller of a request and its cost.
func TestLogNamesCallerAndCost(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Check(t, apitest.Case{Do: "GET /repos/alice/garden", As: "alice", Status: 200})
		for _, part := range []string{
			"repo=alice/garden", "address=127.0.0.1", "caller=alice token=", "cost=65536",
		} {
			logged(t, s, part)
		}
	})
}

// logged waits until the log holds a text: a line may come after its answer.
func logged(t *testing.T, s *apitest.Server, text string) {
	t.Helper()
	testkit.Eventually(t, func() bool { return strings.Contains(s.Log.Text(), text) },
		fmt.Sprintf("the log says %q", text), s.Log.Text)
}

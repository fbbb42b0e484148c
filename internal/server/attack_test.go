package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/admission"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// memory gives a server so many bytes.
func memory(bytes int64) apitest.Option {
	return func(o *server.Options) { o.Admission = admission.New(bytes, nil) }
}

// besiege opens connections, from an address of this machine, that send a request and
// then do nothing. It returns those that the server did not turn away.
func besiege(t *testing.T, s *apitest.Server, from string, count int, request string) []net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
	conns := make([]net.Conn, 0, count)
	for range count {
		c, err := d.Dial("tcp", s.Address)
		if err != nil {
			continue // there is no room in the listener's queue
		}
		t.Cleanup(func() { c.Close() })
		if c.(*net.TCPConn).SetReadBuffer(4 << 10); request != "" {
			c.SetWriteDeadline(time.Now().Add(10 * time.Second))
			io.WriteString(c, request)
		}
		conns = append(conns, c)
	}
	return conns
}

// soon has somebody ask a few times, and checks that each answer is what it
// should be. How soon it comes, make siege measures.
func soon(t *testing.T, s *apitest.Server, what string, c apitest.Case) {
	t.Helper()
	for range 3 {
		c.Name = what
		s.Check(t, c)
	}
}

// freed waits until the besiegers hold nothing any more: the server ends them.
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

func head(method, path, token string, more ...string) string {
	h := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\n", method, path)
	if token != "" {
		h += "Authorization: Bearer " + token + "\r\n"
	}
	return h + strings.Join(append(more, "", ""), "\r\n")
}

// Thousands of connections with fetches that never come whole stopped the server
// for everybody, also for those who watch over it.
func TestSocketsWhoseBodiesNeverCome(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Log.AllowErrors()
		const attackers = 4100
		request := head("POST", "/alice/garden.git/git-upload-pack", "",
			"Content-Type: application/x-git-upload-pack-request",
			"Content-Encoding: gzip", "Content-Length: 1000") + "\x1f\x8b\x08\x00"
		conns := besiege(t, s, "127.0.0.7", attackers, request)
		open, turned := s.Admitted.Open()
		t.Logf("%d connected, %d are open, %d were turned away", len(conns), open, turned)
		if turned == 0 || open > int64(admission.MaxConns(512<<20))/2+10 {
			t.Errorf("one network has %d connections open", open)
		}
		// The same network: to others there is more room.
		const other = "127.9.9.9"
		if got := statusFrom(t, s, other, "alice", "/repos/alice/garden"); got != http.StatusOK {
			t.Errorf("another network is answered %d", got)
		}
		testkit.Eventually(t, func() bool { return statusFrom(t, s, other, "", "/healthz") == http.StatusOK },
			"health")
	}, memory(512<<20))
}

// statusFrom asks for a path from an address of another network.
func statusFrom(t *testing.T, s *apitest.Server, from, as, path string) int {
	t.Helper()
	status, err := tryFrom(t, s, from, as, path)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// tryFrom is statusFrom where the server may close the connection.
func tryFrom(t *testing.T, s *apitest.Server, from, as, path string) (int, error) {
	t.Helper()
	client := &http.Client{Timeout: testkit.Patience, Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext}}
	r, err := http.NewRequest("GET", s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
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

// Clients that ask for a large file, diff or list and do not read it kept everybody
// from raw files and diffs. They lose their connections within seconds.
func TestReadersThatNeverRead(t *testing.T) {
	t.Parallel()
	dir := large(t)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Log.AllowErrors()
		s.User(t, "alice")
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		for _, c := range []struct{ path, media string }{
			{"/repos/alice/garden/contents/large.txt", "application/vnd.github.raw"},
			{"/repos/alice/garden/commits/many", "application/vnd.github.diff"},
			{"/repos/alice/garden/commits?sha=talk&per_page=100", "application/json"},
		} {
			request := head("GET", c.path, "", "Accept: "+c.media)
			besiege(t, s, "127.0.0.7", 64, request)
			soon(t, s, "beside readers that never read",
				apitest.Case{Do: "GET " + c.path, As: "alice", Status: 200,
					Headers: map[string]string{"Accept": c.media}})
			freed(t, s)
		}
	}, memory(1<<30))
}

// Slow clones from one network left none to anybody, with a token or not; so did those by one account.
func TestSlowClones(t *testing.T) {
	t.Parallel()
	dir := large(t)
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Log.AllowErrors()
		// git sends a token only when it is asked for one, as by a private repository.
		s.User(t, "alice")
		s.User(t, "bob")
		s.Import(t, s.Repo(t, "alice/shed", true), dir)
		s.Import(t, s.Repo(t, "alice/garden", false), dir)
		tip := gittest.Run(t, dir, "rev-parse", "main")
		body := pkt("command=fetch") + "0001" + pkt("ofs-delta") + pkt("want "+tip) + pkt("done") + "0000"
		for _, slow := range []struct {
			token string
			left  []string // those who still clone
		}{
			{"", []string{s.Remote(t, "alice", "alice/shed")}},
			{s.Token(t, "bob"), []string{s.Remote(t, "alice", "alice/shed"), s.URL + "/alice/garden.git"}},
		} {
			request := head("POST", "/alice/garden.git/git-upload-pack", slow.token,
				"Content-Type: application/x-git-upload-pack-request",
				"Git-Protocol: version=2", fmt.Sprintf("Content-Length: %d", len(body))) + body
			ctx, stop := context.WithCancel(t.Context())
			var readers sync.WaitGroup
			for i := range 6 {
				for _, c := range besiege(t, s, fmt.Sprintf("127.0.%d.1", i), 10, request) {
					readers.Go(func() { defer c.Close(); readSlowly(ctx, c) })
				}
			}
			for _, from := range slow.left {
				cmd := exec.CommandContext(t.Context(), "git", "clone", "-q", "--bare", from, t.TempDir())
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("a clone of %s: %v\n%s%+v", from, err, out, s.Admitted.Usage())
				}
			}
			stop()
			readers.Wait()
			freed(t, s)
		}
	}, memory(1<<30))
}

// readSlowly reads a little faster than the slowest rate allowed, until ctx is done or the server hangs up.
func readSlowly(ctx context.Context, c net.Conn) {
	for buf := make([]byte, 2<<10); ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		c.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := c.Read(buf); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return
		}
	}
}

func pkt(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

// large is a repository with a file that is more than sockets buffer, a branch
// that adds as much in smaller ones, and one whose commits say as much. It is stored
// as it is: what is read of it is to be a lot, and not to take the processor's time.
func large(t *testing.T) string {
	dir := gittest.Bare(t)
	text := incompressible(20 << 20)
	var b strings.Builder
	commit := func(branch, message string) { b.WriteString(gittest.CommitLine(branch, 0, message)) }
	commit("main", "x")
	b.WriteString(gittest.FileLines("large.txt", text))
	commit("many", "x")
	for i := range 20 {
		b.WriteString(gittest.FileLines(fmt.Sprintf("file%d.txt", i), text[i<<20:(i+1)<<20]))
	}
	for i := range 100 {
		commit("talk", text[i*200<<10:(i+1)*200<<10])
	}
	gittest.ImportStored(t, dir, strings.NewReader(b.String()))
	return dir
}

// incompressible is a text of so many bytes that git can hardly pack.
func incompressible(size int) string {
	var b strings.Builder
	n := uint64(88172645463325252)
	for b.Len() < size {
		n ^= n << 13
		n ^= n >> 7
		n ^= n << 17
		fmt.Fprintf(&b, "%016x", n)
		if b.Len()%64 == 0 {
			b.WriteByte('\n')
		}
	}
	return b.String()[:size]
}

// Uploads that are announced and never come kept everybody from writing files;
// unfinished JSON bodies took a megabyte each.
func TestBodiesThatNeverCome(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		s.Log.AllowErrors()
		s.User(t, "mallory")
		s.Repo(t, "mallory/weeds", false)
		token := s.Token(t, "mallory")
		besiege(t, s, "127.0.0.7", 8,
			head("POST", "/repos/mallory/weeds/git/blobs", token, "Content-Length: 40000000")+`{"content":"`)
		json := `{"title": "` + strings.Repeat("x", 100<<10)
		besiege(t, s, "127.0.0.7", 300,
			head("POST", "/repos/alice/garden/issues", token, "Content-Length: 1000000")+json)
		content := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("y", 3<<20)))
		soon(t, s, "beside bodies that never come",
			apitest.Case{Do: "POST /repos/alice/garden/git/blobs", As: "alice", Status: 201,
				Send: `{"encoding": "base64", "content": "` + content + `"}`})
		if work := s.Admitted.Usage()[admission.Work]; work.Held > work.Most/2+1<<20 {
			t.Errorf("unfinished bodies hold %d of %d", work.Held, work.Most)
		}
		freed(t, s)
	}, memory(256<<20))
}

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
		c := besiege(t, s, "127.0.0.7", 1,
			head("POST", "/repos/alice/shed/issues", s.Token(t, "mallory"),
				fmt.Sprintf("Content-Length: %d", len(body)))+body[:3])[0]
		time.Sleep(200 * time.Millisecond) // the credentials are known by now
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/shed/collaborators/mallory",
			As: "alice", Status: 204})
		io.WriteString(c, body[3:])
		a, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || a.StatusCode != http.StatusNotFound {
			t.Errorf("who lost the right while the body came: %v, %v", a, err)
		}
		c = besiege(t, s, "127.0.0.7", 1,
			head("POST", "/repos/alice/garden/issues", s.Token(t, "mallory"), "Content-Length: 1000"))[0]
		c.SetReadDeadline(time.Now().Add(testkit.Patience))
		answer, err := io.ReadAll(c)
		if err != nil || bytes.HasPrefix(answer, []byte("HTTP/1.1 2")) {
			t.Errorf("a body that never comes is answered %q, %v", answer, err)
		}
	})
}

// Behind a proxy the callers are told apart, in the shares, in the limit on
// requests and in the log; without --trust-proxy nobody can pretend to be another.
func TestTrustedProxy(t *testing.T) {
	t.Parallel()
	proxies, err := admission.ParseProxies("127.0.0.0/8")
	if err != nil {
		t.Fatal(err)
	}
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

// The log says who made the server do what, and what it cost.
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

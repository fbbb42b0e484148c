package server_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/load"
	"arbor/internal/test/testkit"
)

// proxied is how many times TestClonesBehindAProxy clones.
var proxied = flag.Int("proxied", 40, "clones of TestClonesBehindAProxy")

// Many servers stand behind a proxy made of Go's ReverseProxy. Such a proxy breaks an answer
// off that begins before it has read the request to its end: then one clone in a hundred
// or so would fail.
func TestClonesBehindAProxy(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	s.Import(t, s.Repo(t, "alice/garden", false), gittest.Repository(t, 30, 3))
	to, err := url.Parse(s.URL)
	testkit.NoError(t, err)
	reverse := httputil.NewSingleHostReverseProxy(to)
	reverse.ErrorLog = log.New(io.Discard, "", 0)
	proxy := httptest.NewServer(reverse)
	defer proxy.Close()
	dir := t.TempDir()
	var clients sync.WaitGroup
	for c := range 8 {
		clients.Go(func() {
			for i := c; i < *proxied; i += 8 {
				to := filepath.Join(dir, fmt.Sprint(i))
				cmd := exec.Command("git", "clone", "-q", "--bare", proxy.URL+"/alice/garden.git", to)
				cmd.Env = gittest.Env()
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("clone %d: %v\n%s", i, err, out)
				}
				os.RemoveAll(to)
			}
		})
	}
	clients.Wait()
}

// The last byte that means something is not the end of a request. An answer that begins
// before the end is what a proxy breaks off.
func TestAnswersOfGitAwaitTheEndOfTheRequest(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	dir := gittest.Repository(t, 3, 3)
	s.Import(t, s.Repo(t, "alice/garden", false), dir)
	tip := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main"))
	none, caps := strings.Repeat("0", 40), "\x00report-status side-band-64k"
	listing := pkt("command=ls-refs\n") + "0001" + pkt("peel\n") + "0000"
	clone := pkt("command=fetch\n") + "0001" + pkt("want "+tip+"\n") + pkt("done\n") + "0000"
	pack := gittest.Pipe(t, dir, strings.NewReader(tip+"\n"), "pack-objects", "--revs", "--stdout", "-q")
	for _, c := range []struct{ name, service, body, coding string }{
		{"a listing", "git-upload-pack", listing, "identity"},
		{"a clone", "git-upload-pack", clone, "identity"},
		{"a compressed clone", "git-upload-pack", zipped(t, clone), "gzip"},
		{"a push", "git-receive-pack", pkt(none+" "+tip+" refs/heads/next"+caps) + "0000" + string(pack),
			"identity"},
		{"a refused push", "git-receive-pack",
			pkt(none+" "+tip+" refs/pull/1/head"+caps) + "0000" + string(pack), "identity"},
		{"a deletion", "git-receive-pack", pkt(tip+" "+none+" refs/heads/next"+caps) + "0000", "identity"},
		{"a probe", "git-receive-pack", "0000", "identity"},
		{"a damaged push", "git-receive-pack", "zzzz", "identity"},
		{"a compressed push", "git-receive-pack",
			zipped(t, pkt(none+" "+tip+" refs/heads/n2"+caps)+"0000"+string(pack)), "gzip"},
	} {
		t.Run(c.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.Address)
			testkit.NoError(t, err)
			defer conn.Close()
			fmt.Fprintf(conn, "%s%x\r\n%s\r\n",
				load.Head("POST /alice/garden.git/"+c.service, "Authorization: Bearer "+s.Token(t, "alice"),
					"Content-Type: application/x-"+c.service+"-request", "Git-Protocol: version=2",
					"Content-Encoding: "+c.coding,
					"Transfer-Encoding: chunked", "Connection: close"), len(c.body), c.body)
			conn.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
			early := make([]byte, 100)
			if n, err := conn.Read(early); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the answer began before the request had ended: %q, %v", early[:n], err)
			}
			io.WriteString(conn, "0\r\n\r\n")
			conn.SetReadDeadline(time.Now().Add(testkit.Patience))
			if rest, err := io.ReadAll(conn); err != nil || !bytes.HasPrefix(rest, []byte("HTTP/1.1 ")) {
				t.Errorf("the answer: %.100q, %v", rest, err)
			}
		})
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	testkit.NoError(t, z.Close())
	return b.String()
}

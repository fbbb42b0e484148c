//go:build long

package bench

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"arbor/internal/test/dbtest"
	"arbor/internal/test/testenv"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// A goroutine or process that stays for each client that hangs up would end
// the server after some thousand bad connections. Clients hang up here in the
// middle of everything that takes long: a large tree, the long list of plants,
// a fetch, a push.
func TestHangUpLeavesNothing(t *testing.T) {
	if !testenv.Long {
		t.Skip("a large repository is not made in short mode")
	}
	s := apitest.Start(t, db.SQLite)
	alice := s.User(t, "alice")
	r := s.Repo(t, "alice/large", false)
	source := gittest.Bare(t)
	gittest.Import(t, source, largeTree(250))
	s.Import(t, r, source)
	s.Repo(t, "alice/target", false)
	addPlants(t, s.DB, alice.ID)
	address := strings.TrimPrefix(s.URL, "http://")
	token := s.Token(t, "alice")
	tip := gittest.Run(t, source, "rev-parse", "main")
	hangUps := map[string][]byte{
		"tree":   get("/repos/alice/large/git/trees/main?recursive=1", token),
		"plants": get("/plants", token),
		"fetch":  gitRequest("/alice/large.git/git-upload-pack", "git-upload-pack", token, fetchBody(tip), 0),
		"push": gitRequest("/alice/target.git/git-receive-pack", "git-receive-pack", token,
			pushBody(tip)+string(gittest.Pipe(t, source, strings.NewReader("main\n"), "pack-objects", "-q",
				"--revs", "--stdout")[:50_000]), 1<<20),
	}
	for name, request := range hangUps { // one each, so that what stays for good is there before
		hangUp(t, name, address, request)
	}
	settle(t, "before", runtime.NumGoroutine()+50, -1)
	goroutines := runtime.NumGoroutine()
	for name, request := range hangUps {
		for range 25 {
			hangUp(t, name, address, request)
		}
	}
	settle(t, "after", goroutines+5, 0)
}

// hangUp sends a request, reads a little of the answer if there is one soon,
// and closes the connection.
func hangUp(t *testing.T, name, address string, request []byte) {
	t.Helper()
	c, err := net.Dial("tcp", address)
	testkit.NoError(t, err)
	defer c.Close()
	if _, err := c.Write(request); err != nil {
		t.Fatal(name, err)
	}
	if name == "push" {
		time.Sleep(20 * time.Millisecond) // the server waits for the rest of the pack
		return
	}
	line, err := bufio.NewReaderSize(c, 16).ReadString('\n')
	if err != nil || !strings.Contains(line, " 200 ") {
		t.Fatalf("%s: %q, %v", name, line, err)
	}
}

// settle waits until no more goroutines run than most, and no process of git
// but those of the pool, which wait for the next read.
func settle(t *testing.T, when string, most, processes int) {
	t.Helper()
	end := time.Now().Add(testkit.Patience)
	for {
		working := workingChildren()
		n := runtime.NumGoroutine()
		if n <= most && (processes < 0 || len(working) <= processes) {
			return
		}
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%s: %d goroutines (at most %d), processes %q\n%s",
				when, n, most, working, stacks[:runtime.Stack(stacks, true)])
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// workingChildren returns the commands of this process's children, without the pool's cat-file and the
// shell that removes temporary folders (testenv).
func workingChildren() []string {
	var list []string
	for _, pid := range children(os.Getpid()) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && !strings.Contains(string(line), "cat-file") && !strings.Contains(string(line), "remover") {
			list = append(list, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return list
}

// addPlants returns an account more plants than a connection's buffers hold.
func addPlants(t *testing.T, d *db.DB, owner account.ID) {
	t.Helper()
	dbtest.Exec(t, d, `INSERT INTO plants (id, owner_id, name, tag)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)
			SELECT i, $1, 'plant', 'tag' FROM n`, owner)
}

// gitRequest is a request of a git client, whose body may be announced longer
// than it is sent.
func gitRequest(path, service, token, body string, more int) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/x-%s-request\r\nContent-Length: %d\r\n\r\n%s", path, token, service,
		len(body)+more, body)
}

func packet(line string) string { return fmt.Sprintf("%04x%s", len(line)+4, line) }

func fetchBody(tip string) string {
	return packet("want "+tip+" side-band-64k ofs-delta\n") + "0000" + packet("done\n")
}

func pushBody(tip string) string {
	return packet(strings.Repeat("0", 40)+" "+tip+" refs/heads/main\x00report-status side-band-64k\n") +
		"0000"
}

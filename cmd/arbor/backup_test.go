package main

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

const codeURL = "http://code.test" // with one base URL, all servers give the same addresses

// A store is backed up while people write to it. What comes out of the backup, on either
// engine, has all that was acknowledged before, is sound, and a backup of the store at rest
// answers as the store does. If this failed, a restore would lose somebody's work.
func TestBackupOfABusyStore(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s := serving(t, engine, "--base-url", codeURL)
		s.user("alice", "bob")
		send := func(login, do, body string) (int, string) {
			method, path, _ := strings.Cut(do, " ")
			res, text := s.do(login, method, path, http.Header{"Content-Type": {"application/json"}},
				strings.NewReader(body))
			return res.StatusCode, text
		}
		send("alice", "POST /user/repos", `{"name":"garden","auto_init":true}`)
		send("alice", "POST /repos/alice/garden/issues", `{"title":"first"}`)
		work := startWriters(send)
		for work.acknowledged() < 20 {
			time.Sleep(time.Millisecond)
		}
		before := work.acknowledged()
		dir := filepath.Join(t.TempDir(), "backup")
		s.arbor("backup", dir)
		work.stop()
		again := restored(t, s, dir, engine)
		if _, list := again.do("alice", "GET", "/repos/alice/garden/issues?per_page=1&sort=created", nil,
			nil); number(list) < before {
			t.Errorf("of %d issues this is the last one that came back: %s", before, list)
		}
		testkit.Eventually(t, func() bool {
			return s.number(`SELECT (SELECT COUNT(*) FROM pulls WHERE wanted) + (SELECT COUNT(*) FROM detections)
				+ (SELECT COUNT(*) FROM statistics_jobs)`) == 0
		}, "no test merge and no statistics are to be made: answers show them")
		s.arbor("backup", dir)
		answers := walkOver(s)
		if len(answers) < 100 {
			t.Errorf("the walk found %d answers only", len(answers))
		}
		for _, other := range []db.Engine{db.SQLite, db.PostgreSQL} {
			differences(t, answers, walkOver(restored(t, s, dir, other)))
		}
	})
}

// restored is a server on what a backup of a store holds.
func restored(t *testing.T, of *instance, dir string, engine db.Engine) *instance {
	t.Helper()
	s := newInstance(t, engine)
	s.tokens = of.tokens
	said := s.arbor("restore", dir)
	if !strings.Contains(said, "the newest thing in it is of ") {
		t.Errorf("the restore said %q", said)
	}
	s.sound()
	s.start("--base-url", codeURL)
	return s
}

// writers file issues, make commits, fork and delete repositories until they are stopped.
type writers struct {
	done    chan struct{}
	running sync.WaitGroup
	mu      sync.Mutex
	filed   int
}

func startWriters(send func(login, do, body string) (int, string)) *writers {
	w := &writers{done: make(chan struct{})}
	loop := func(act func(n int)) {
		w.running.Go(func() {
			for n := 1; ; n++ {
				select {
				case <-w.done:
					return
				default:
					act(n)
				}
			}
		})
	}
	loop(func(n int) {
		if status, text := send("alice", "POST /repos/alice/garden/issues",
			`{"title":"more"}`); status == http.StatusCreated {
			w.mu.Lock()
			w.filed = max(w.filed, number(text))
			w.mu.Unlock()
		}
	})
	loop(func(n int) {
		send("alice", fmt.Sprintf("PUT /repos/alice/garden/contents/file-%d", n),
			`{"message":"add","content":"aGk="}`)
	})
	loop(func(n int) {
		send("bob", "POST /repos/alice/garden/forks", `{}`)
		send("bob", "POST /repos/alice/garden/pulls", `{"title":"p","head":"bob:main","base":"main"}`)
		send("bob", "PUT /repos/bob/garden/contents/other", `{"message":"add","content":"aGk="}`)
		if n%3 == 0 {
			send("bob", "DELETE /repos/bob/garden", "")
		}
	})
	return w
}

func (w *writers) acknowledged() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.filed
}

func (w *writers) stop() {
	close(w.done)
	w.running.Wait()
}

var numberField = regexp.MustCompile(`"number":(\d+)`)

// number is the first number of an issue in an answer.
func number(text string) (n int) {
	if m := numberField.FindStringSubmatch(text); m != nil {
		fmt.Sscan(m[1], &n)
	}
	return n
}

var codeAddress = regexp.MustCompile(`"` + codeURL + `(/[^"{#\\]*)"`)

// laterPart is where a page has the part for which it did not wait.
var laterPart = regexp.MustCompile(`data-(?:more|later)="([^"]+)"`)

// ageShown is what differs between stores or visits: how long ago something was, and the mark of an issue.
var ageShown = regexp.MustCompile(`(<time [^>]*>)[^<]*|data-mark="[^"]*"`)

// walkOver follows the addresses of answers as alice, to the same answers each time.
func walkOver(s *instance) map[string]string {
	answers := map[string]string{}
	queue := []string{"/", "/repos/alice/garden", "/user/repos", "/repos/alice/garden/issues?state=all",
		"/repos/alice/garden/pulls?state=all", "/users/alice/events", "/repos/alice/garden/events"}
	for ; len(queue) > 0 && len(answers) < 200; queue = queue[1:] {
		if _, seen := answers[queue[0]]; seen || strings.HasPrefix(queue[0], "/openapi") ||
			strings.HasPrefix(queue[0], "/rate") {
			continue
		}
		res, text := s.do("alice", "GET", queue[0], nil, nil)
		// on a busy machine; it is kept once it was made
		for range 10 {
			later := laterPart.FindStringSubmatch(text)
			if later == nil {
				break
			}
			at := html.UnescapeString(later[1])
			if strings.HasPrefix(at, "?") {
				at = queue[0] + at
			}
			s.do("alice", "GET", at, nil, nil)
			res, text = s.do("alice", "GET", queue[0], nil, nil)
		}
		etag := res.Header.Get("ETag")
		if strings.Contains(text, "<time ") {
			text, etag = ageShown.ReplaceAllString(text, "$1"), ""
		}
		answers[queue[0]] = fmt.Sprintln(res.StatusCode, etag, res.Header.Get("Link"), text)
		for _, m := range codeAddress.FindAllStringSubmatch(text, -1) {
			queue = append(queue, m[1])
		}
	}
	return answers
}

func differences(t *testing.T, want, got map[string]string) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%d answers became %d", len(want), len(got))
	}
	for path := range want {
		if want[path] != got[path] {
			t.Errorf("%s answers\n%s\ninstead of\n%s", path, got[path], want[path])
		}
	}
}

// A stream is a backup as well; a restore that is killed leaves a store that nothing opens
// and that the next restore fills; and a database moves to the other engine and back.
func TestBackupInAStream(t *testing.T) {
	t.Parallel()
	s := serving(t, db.SQLite, "--base-url", codeURL)
	s.user("alice")
	s.do("alice", "POST", "/user/repos", nil, strings.NewReader(`{"name":"garden","auto_init":true}`))
	want := walkOver(s)
	s.stop()
	run := func(s *instance, in []byte, args ...string) (string, error) {
		cmd := exec.Command("arbor", args...)
		var out, problems bytes.Buffer
		cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.env, bytes.NewReader(in), &out, &problems
		err := cmd.Run()
		return out.String(), errText(err, problems.String())
	}
	stream, err := run(s, nil, "backup", "-")
	testkit.NoError(t, err)
	other := newInstance(t, db.SQLite)
	other.tokens = s.tokens
	if _, err := run(other, []byte(stream[:len(stream)*2/3]), "restore", "-"); err == nil ||
		!strings.Contains(err.Error(), "cut short") {
		t.Errorf("a stream that is cut short: %v", err)
	}
	if left := other.find("*"); len(left) != 1 {
		t.Errorf("it left %q", left)
	}
	marker := filepath.Join(other.data, "restoring") // what a killed restore leaves
	testkit.NoError(t, os.WriteFile(marker, nil, 0o600))
	os.MkdirAll(filepath.Join(other.data, "repositories", "01", "1.git"), 0o700)
	if err := other.tryStart(); err == nil || !strings.Contains(err.Error(), "restore it again") {
		t.Errorf("a server on a store that is half restored: %v", err)
	}
	other.log = &logBuffer{} // the refusal is no error of a server
	if _, err := run(other, []byte(stream), "restore", "-"); err != nil {
		t.Fatal(err)
	}
	if _, err := run(other, []byte(stream), "restore", "-"); err == nil ||
		!strings.Contains(err.Error(), "not empty") {
		t.Errorf("a store that is not empty: %v", err)
	}
	other.sound()
	for _, engine := range []db.Engine{db.PostgreSQL, db.SQLite} {
		url := dbtest.URL(t, engine)
		other.arbor("database", "move", url)
		other.env = append(other.env, "ARBOR_DATABASE="+url)
	}
	other.start("--base-url", codeURL)
	differences(t, want, walkOver(other))
	if _, err := run(other, nil, "database", "move", dbtest.URL(t, db.SQLite)); err == nil ||
		!strings.Contains(err.Error(), "stop it first") {
		t.Errorf("a move while a server runs: %v", err)
	}
}

func errText(err error, problems string) error {
	if err != nil {
		err = fmt.Errorf("%w: %s", err, problems)
	}
	return err
}

// A backup that is killed leaves the earlier one whole, and a restore that is killed leaves
// nothing that opens, until the next one.
func TestKilledBackupAndRestore(t *testing.T) {
	t.Parallel()
	s := serving(t, db.SQLite)
	s.user("alice")
	for _, name := range []string{"garden", "meadow", "orchard"} {
		s.do("alice", "POST", "/user/repos", nil, strings.NewReader(`{"name":"`+name+`","auto_init":true}`))
	}
	dir := filepath.Join(t.TempDir(), "backup")
	s.arbor("backup", dir)
	for n := range time.Duration(6) {
		s.do("alice", "POST", "/repos/alice/garden/issues", nil, strings.NewReader(`{"title":"more"}`))
		s.killedAfter((20+10*n)*time.Millisecond, "backup", dir)
	}
	other := newInstance(t, db.SQLite)
	for after := 10 * time.Millisecond; !other.killedAfter(after, "restore", dir); after = after * 5 / 4 {
		said, err := other.tells("check")
		if err == nil { // killed between its last step and its exit: all is there
			break
		}
		if !strings.Contains(said, "restore it again") &&
			!strings.Contains(said, "no store found") {
			t.Fatalf("after %s: %v %s", after, err, said)
		}
	}
	other.start()
	other.sound()
	s.arbor("backup", dir)
}

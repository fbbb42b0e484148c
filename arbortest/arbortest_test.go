package arbortest_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-github/v89/github"

	"arbor/arbortest"
	"arbor/internal/test/testkit"
)

func as(t *testing.T, s *arbortest.Server, login string) *github.Client {
	t.Helper()
	c, err := github.NewClient(github.WithEnterpriseURLs(s.URL, s.URL), github.WithAuthToken(s.Token(login)))
	testkit.NoError(t, err)
	return c
}

// Who tests a bot starts a server in one line, lets an unmodified client of
// GitHub change it, and begins anew.
func TestClientAndReset(t *testing.T) {
	t.Parallel()
	s := arbortest.Start(t)
	ctx, alice := t.Context(), as(t, s, "alice")
	for round := range 3 {
		issues, _, err := alice.Issues.ListByRepo(ctx, "alice", "hello", nil)
		if err != nil || len(issues) != 2 || issues[1].GetTitle() != "Whom does it greet?" {
			t.Fatalf("round %d: the issues are %v: %v", round, issues, err)
		}
		repos, _, err := alice.Repositories.ListByAuthenticatedUser(ctx, nil)
		if err != nil || len(repos) != 3 {
			t.Fatalf("round %d: alice has %d repositories: %v", round, len(repos), err)
		}
		if _, _, err := alice.Issues.Create(ctx, "alice", "hello",
			&github.IssueRequest{Title: github.Ptr("Another")}); err != nil {
			t.Fatal(err)
		}
		if _, _, err := alice.PullRequests.Merge(ctx, "alice", "hello", 2, "", nil); err != nil {
			t.Fatal(err)
		}
		if _, err := alice.Repositories.Delete(ctx, "alice", "secret"); err != nil {
			t.Fatal(err)
		}
		s.Reset(t)
	}
}

// Git works with the address that a test is given, and a reset undoes a push.
func TestGit(t *testing.T) {
	t.Parallel()
	s := arbortest.Start(t)
	dir := filepath.Join(t.TempDir(), "hello")
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull,
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("clone", "-q", s.CloneURL("alice/hello", "bob"), dir)
	before := git("ls-remote", s.CloneURL("alice/hello", ""))
	git("-C", dir, "commit", "-q", "--allow-empty", "-m", "more")
	git("-C", dir, "push", "-q", "origin", "main")
	if pushed := git("ls-remote", s.CloneURL("alice/hello", "")); pushed == before {
		t.Error("the push moved nothing")
	}
	s.Reset(t)
	if now := git("ls-remote", s.CloneURL("alice/hello", "")); now != before {
		t.Errorf("after the reset:\n%s\nbefore:\n%s", now, before)
	}
	// What was pushed before can be pushed again.
	git("-C", dir, "push", "-q", "origin", "main")
}

// Tests in parallel have a server each, and the same seed gives each the same
// commits.
func TestParallel(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	t.Run("group", func(t *testing.T) {
		for range 4 {
			t.Run("one", func(t *testing.T) {
				t.Parallel()
				s := arbortest.Start(t, arbortest.Seed("testdata/seed.yaml"))
				c := as(t, s, "gardener")
				commit, _, err := c.Repositories.GetCommit(t.Context(), "gardener", "roses", "main", nil)
				testkit.NoError(t, err)
				i, _, err := c.Issues.Create(t.Context(), "gardener", "roses",
					&github.IssueRequest{Title: github.Ptr("Mine")})
				if err != nil || i.GetNumber() != 2 {
					t.Errorf("the issue has number %d: somebody else's are here: %v", i.GetNumber(), err)
				}
				mu.Lock()
				defer mu.Unlock()
				seen[commit.GetSHA()+" "+commit.GetCommit().GetCommitter().GetDate().String()]++
			})
		}
	})
	if len(seen) != 1 {
		t.Errorf("the same seed gave %v", seen)
	}
}

// A token given in a seed is a secret all the same, and a server that a test
// ended is gone.
func TestLogsAndEnd(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	var url string
	var client *http.Client
	t.Run("one", func(t *testing.T) {
		s := arbortest.Start(t, arbortest.Log(slog.New(slog.NewTextHandler(&text, nil))))
		url, client = s.URL+"/repos/alice/mine", s.Client("alice")
		answer, err := client.Post(s.URL+"/user/repos", "application/json", strings.NewReader(`{"name": "mine"}`))
		if err != nil || answer.StatusCode != http.StatusCreated {
			t.Fatalf("%v %v", answer, err)
		}
		io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
	})
	if !strings.Contains(text.String(), "caller=alice") || strings.Contains(text.String(), "arb_") {
		t.Errorf("the log:\n%s", &text)
	}
	if answer, err := client.Get(url); err == nil { // another test's server may have got the port
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			t.Error("the server answers after its test")
		}
	}
}

// failed notes how a test would have failed.
type failed struct {
	testing.TB
	text string
}

func (f *failed) Helper()                  {}
func (f *failed) Context() context.Context { return f.TB.Context() }
func (f *failed) Fatalf(format string, args ...any) {
	f.text = strings.ReplaceAll(format, "%v", args[0].(error).Error())
	panic(f)
}

// A mistake in a seed is told with its place.
func TestMistake(t *testing.T) {
	t.Parallel()
	f := &failed{TB: t}
	func() {
		defer func() {
			if recover() != any(f) {
				t.Error("the test did not fail")
			}
		}()
		arbortest.Start(f, arbortest.YAML("users:\n  - login: alice\n    tokens: [secret]\n"))
	}()
	if want := "seed:3: users[0].tokens[0]: "; !strings.Contains(f.text, want) ||
		strings.Contains(f.text, "secret") {
		t.Errorf("the test fails with %q", f.text)
	}
}

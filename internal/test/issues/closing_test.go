package issues_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/forge"
	"arbor/internal/git"
	"arbor/internal/issue"
	"arbor/internal/keywords"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

// timelineBecomes waits until the timeline of an issue of garden/plot has the events wanted.
func timelineBecomes(t *testing.T, s *apitest.Server, number int, want string) {
	t.Helper()
	var got string
	testkit.Eventually(t, func() bool {
		got = closingKinds(t, s.Check(t, apitest.Case{
			Do: fmt.Sprintf("GET /repos/garden/plot/issues/%d/timeline", number), Status: 200}))
		return got == want
	}, want, func() string { return got })
}

// closingKinds are the events of a timeline, each with who did it.
func closingKinds(t *testing.T, a *apitest.Answer) string {
	t.Helper()
	var list []struct {
		Event string
		Actor struct{ Login string }
	}
	a.JSON(t, &list)
	out := make([]string, len(list))
	for n, e := range list {
		out[n] = e.Event + ":" + e.Actor.Login
	}
	return strings.Join(out, " ")
}

// commitOn creates a commit that is on no branch through the API, and returns its SHA.
func commitOn(t *testing.T, s *apitest.Server, parent, message string) (sha string) {
	t.Helper()
	var made struct{ SHA string }
	body := fmt.Sprintf(`{"tree": [{"path": "f", "mode": "100644", "content": %q}]}`, message)
	s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/git/trees", As: "will", Send: body,
		Status: 201}).JSON(t, &made)
	parents := "[]"
	if parent != "" {
		parents = `["` + parent + `"]`
	}
	body = fmt.Sprintf(`{"message": %q, "tree": %q, "parents": %s}`, message, made.SHA, parents)
	s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/git/commits", As: "will", Send: body,
		Status: 201}).JSON(t, &made)
	return made.SHA
}

// What commits say of issues is found with the issues, and those that land on
// the default branch close what they fix. If this failed, a team would close
// by hand what it fixed, or find issues closed that are not fixed.
func TestCommitsReferToIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for _, at := range []string{"garden/plot", "garden/plot", "garden/plot", "garden/shed"} {
			s.Ask(t, "will", "POST /repos/"+at+"/issues", `{"title": "x"}`, 201)
		}
		put := func(as, file, message string) {
			t.Helper()
			s.Check(t, apitest.Case{Do: "PUT /repos/garden/plot/contents/" + file, As: as, Status: 201,
				Send: fmt.Sprintf(`{"message": %q, "content": "eA=="}`, message)})
		}
		move := func(as, do, ref, more, sha string) {
			t.Helper()
			c := apitest.Case{Do: "POST /repos/garden/plot/git/refs", As: as,
				Send: fmt.Sprintf(`{"ref": "refs/%s", "sha": %q}`, ref, sha), Status: 201}
			if do == "PATCH" {
				c.Do, c.Send, c.Status = "PATCH /repos/garden/plot/git/refs/"+ref,
					fmt.Sprintf(`{"sha": %q%s}`, sha, more), 200
			}
			s.Check(t, c)
		}
		put("will", "a", "Sow (#1, garden/PLOT#2), see #99, garden/shed#1 and nobody/plot#3")
		timelineBecomes(t, s, 1, "referenced:will")
		timelineBecomes(t, s, 2, "referenced:will")

		var head struct{ Object struct{ SHA string } }
		s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/git/ref/heads/main", Status: 200}).JSON(t, &head)
		base := head.Object.SHA
		fix := commitOn(t, s, base, "Water\n\nFixes #1. Closes garden/shed#1.")
		move("will", "POST", "heads/topic", "", fix)
		timelineBecomes(t, s, 1, "referenced:will referenced:will")
		s.Check(t, apitest.Case{Do: "GET /repos/garden/plot/issues/1", Status: 200,
			Want: `{"state": "open"}`})
		move("alice", "PATCH", "heads/main", "", fix)
		timelineBecomes(t, s, 1, "referenced:will referenced:will closed:alice")
		closed := `{"event": "closed", "commit_id": "` + fix +
			`", "commit_url": "{base}/repos/garden/plot/commits/` + fix + `", "state_reason": "completed"}`
		s.Run(t, []apitest.Case{
			{Name: "closed", Do: "GET /repos/garden/plot/issues/1", Status: 200,
				Want: `{"state": "closed", "closed_by": {"login": "alice"}, "state_reason": "completed"}`},
			{Name: "by the commit", Do: "GET /repos/garden/plot/issues/1/events?per_page=1&page=3",
				Status: 200, Want: "[" + closed + "]"},
			{Name: "opened again", Do: "PATCH /repos/garden/plot/issues/1", As: "will",
				Send: `{"state": "open"}`, Status: 200},
		})

		// The same commits come and go: who opened the issue again knows better.
		move("will", "PATCH", "heads/main", `, "force": true`, base)
		move("will", "PATCH", "heads/main", "", fix)
		move("will", "POST", "heads/other", "", fix)
		put("will", "b", "Resolves #2")
		timelineBecomes(t, s, 2, "referenced:will referenced:will closed:will")
		timelineBecomes(t, s, 1, "referenced:will referenced:will closed:alice reopened:will")

		// A tag brings nothing, and neither does a branch of commits known already.
		move("will", "POST", "tags/v1", "", commitOn(t, s, base, "#3"))
		move("will", "POST", "heads/again", "", base)
		put("will", "c", "done #3")
		timelineBecomes(t, s, 3, "referenced:will")
		s.Run(t, []apitest.Case{
			{Name: "another repository is left alone", Do: "GET /repos/garden/shed/issues/1/timeline",
				As: "will", Status: 200, Body: "[]"},
			{Name: "no issue was made", Do: "GET /repos/garden/plot/issues/99/timeline", Status: 404},
		})
	})
}

// A first push brings all branches at once; each commit counts once, and those
// of the default branch close issues.
func TestFirstPushRefersToIssues(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		for range 3 {
			s.Ask(t, "will", "POST /repos/garden/plot/issues", `{"title": "x"}`, 201)
		}
		dir := gittest.Bare(t)
		gittest.Import(t, dir, strings.NewReader(stream("refs/heads/main", "fixes #1",
			"sow")+stream("refs/heads/dev", "fixes #2")+"done\n"))
		for n := range 40 {
			gittest.Run(t, dir, "branch", fmt.Sprintf("b%d", n), "main")
		}
		gittest.Run(t, dir, "push", "-q", s.Remote(t, "will", "garden/plot"), "--all")
		timelineBecomes(t, s, 1, "referenced:will closed:will")
		timelineBecomes(t, s, 2, "referenced:will")

		// A commit that was never on the branch counts, even after a force push.
		gittest.Import(t, dir, strings.NewReader(stream("refs/heads/fresh", "begin anew",
			"closes #3")+"done\n"))
		gittest.Run(t, dir, "push", "-q", "--force", s.Remote(t, "will", "garden/plot"), "fresh:main")
		timelineBecomes(t, s, 3, "referenced:will closed:will")
		timelineBecomes(t, s, 1, "referenced:will closed:will")
	})
}

// stream is a history for git fast-import: empty commits with the messages.
func stream(ref string, messages ...string) string {
	var b strings.Builder
	for n, m := range messages {
		fmt.Fprintf(&b, "commit %s\ncommitter %s %d +0000\ndata %d\n%s\n", ref, gittest.Author,
			gittest.Start+n, len(m), m)
		if n == 0 {
			fmt.Fprintf(&b, "M 100644 inline %s\ndata 1\nx\n", strings.ReplaceAll(ref, "/", "-"))
		}
	}
	return b.String()
}

// bench is a store without a server: what is pushed stays until somebody works
// on it.
type bench struct {
	db     *db.DB
	repos  *repo.Service
	issues *issue.Service
	access *repo.Access
	log    *apitest.Log
}

func newBench(t *testing.T, engine db.Engine) *bench {
	t.Helper()
	b := &bench{db: dbtest.Open(t, engine), log: &apitest.Log{}}
	f := forge.New(b.db, gittest.New(t, git.Options{}), slog.New(b.log), t.TempDir())
	b.repos, b.issues = f.Repos, f.Issues
	alice, err := f.Accounts.CreateUser(t.Context(), account.NewUser{Login: "alice"})
	testkit.NoError(t, err)
	caller := &account.Caller{ID: alice.ID, Login: "alice"}
	if _, err = b.repos.Create(t.Context(), caller,
		repo.NewRepo{Owner: "alice", Name: "garden", AutoInit: true}); err != nil {
		t.Fatal(err)
	}
	found, err := b.repos.Find(t.Context(), caller, "alice", "garden")
	testkit.NoError(t, err)
	b.access = &found.Access
	if _, err := b.issues.Create(t.Context(), b.access, issue.NewIssue{Title: "x"}); err != nil {
		t.Fatal(err)
	}
	return b
}

// push puts a commit with the message on a new branch.
func (b *bench) push(t *testing.T, branch, message string) {
	t.Helper()
	refs, err := b.repos.Refs(t.Context(), b.access)
	testkit.NoError(t, err)
	parent, err := apitest.Objects(t, b.repos, b.access.ID).Commit(t.Context(), refs.List[0].SHA)
	testkit.NoError(t, err)
	c := &git.Commit{Tree: parent.Tree, Parents: []git.SHA{parent.SHA}, Author: parent.Author,
		Committer: parent.Author, Message: message}
	encoded, err := c.Encode()
	if err == nil {
		_, err = b.repos.WriteObjects(t.Context(), b.access, []git.NewObject{encoded})
	}
	if err == nil {
		_, err = b.repos.CreateRef(t.Context(), b.access, "refs/heads/"+branch, encoded.SHA())
	}
	testkit.NoError(t, err)
}

// work runs so many workers until all work is done.
func (b *bench) work(t *testing.T, workers int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range workers {
		s := keywords.New(b.db, b.repos, b.issues, slog.New(b.log))
		all.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Errorf("a worker ended: %v", err)
			}
		})
	}
	testkit.Eventually(t, func() bool { return dbtest.Number(t, b.db, waiting) == 0 }, "no commit waits")
	stop()
	all.Wait()
}

const (
	referenced = `SELECT count(*) FROM issue_events WHERE kind = 15`
	waiting    = `SELECT count(*) FROM pushed_commits`
)

// A server that dies between a push and the reading of its commits, or while
// reading them, leaves the work to the next.
func TestPushedWorkOutlivesServers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBench(t, engine)
		b.push(t, "a", "see #1")
		if got := dbtest.Number(t, b.db, waiting); got != 1 {
			t.Fatalf("%d pieces of work are in the store", got)
		}
		b.work(t, 1)
		if got := dbtest.Number(t, b.db, referenced); got != 1 {
			t.Errorf("%d references", got)
		}
		b.push(t, "b", "#1 again")
		dbtest.Exec(t, b.db, `UPDATE pushed_commits SET tries = 1, due_at = 1`) // whose lease ran out
		b.work(t, 1)
		if got := dbtest.Number(t, b.db, referenced); got != 2 {
			t.Errorf("%d references", got)
		}
		b.push(t, "c", "#1 once more")
		dbtest.Exec(t, b.db, `UPDATE pushed_commits SET tries = 1, due_at = 9000000000000000`) // somebody is at it
		ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer stop()
		if err := keywords.New(b.db, b.repos, b.issues, slog.New(b.log)).Run(ctx); err != nil ||
			dbtest.Number(t, b.db, waiting) != 1 {
			t.Errorf("work of others is done too (%v)", err)
		}
	})
}

// Many nodes do the work once.
func TestPushedWorkIsShared(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBench(t, engine)
		for n := range 12 {
			b.push(t, fmt.Sprint("b", n), fmt.Sprint("see #1, take ", n))
		}
		dbtest.Exec(t, b.db, `UPDATE pushed_commits SET tries = 1 WHERE id % 2 = 0`) // those go alone
		b.work(t, 4)
		if got := dbtest.Number(t, b.db, referenced); got != 12 {
			t.Errorf("%d references", got)
		}
	})
}

// Work that cannot be done keeps nobody else's waiting, and ends.
func TestPushedWorkThatFails(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		b := newBench(t, engine)
		b.push(t, "bad", "see #1")
		dbtest.Exec(t, b.db, `UPDATE pushed_commits SET new_sha = $1, tries = 4`, strings.Repeat("1", 40))
		b.push(t, "good", "see #1, too")
		b.work(t, 1)
		if got := dbtest.Number(t, b.db, referenced); got != 1 {
			t.Errorf("%d references", got)
		}
		if !strings.Contains(b.log.Text(), "reading pushed commits failed") {
			t.Error("nobody is told of the work that fails")
		}
	})
}

// Where no issue could be named, a push leaves no work.
func TestPushWithoutIssuesLeavesNothing(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		r := s.Repo(t, "garden/empty", false)
		s.Ask(t, "alice", "PUT /repos/garden/empty/contents/a", `{"message": "#1", "content": "eA=="}`, 201)
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM pushed_commits WHERE repo_id = $1`, r.ID); n != 0 {
			t.Errorf("%d pieces of work", n)
		}
	})
}

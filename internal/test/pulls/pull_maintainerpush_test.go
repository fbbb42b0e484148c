package pulls_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
)

// helper is a clone of a fork's branch in the hands of a maintainer of its parent.
type helper struct {
	*testing.T
	dir string
}

// helps clones the branch hoes of sam/plot, and adds a commit.
func helps(t *testing.T, s *apitest.Server) helper {
	h := helper{t, t.TempDir()}
	gittest.Run(t, h.dir, "clone", "-q", "-b", "hoes", s.Remote(t, "sam", "sam/plot"), ".")
	gittest.Run(t, h.dir, "commit", "-q", "--allow-empty", "-m", "Help")
	return h
}

// push pushes to sam/plot. refused is what git must say; empty: it works.
func (h helper) push(s *apitest.Server, who, refused string, args ...string) {
	h.Helper()
	out, said, err := gittest.Try(h.T, h.dir, nil,
		append([]string{"push", s.Remote(h.T, who, "sam/plot")}, args...)...)
	if (err == nil) != (refused == "") || !strings.Contains(string(said), refused) {
		h.Errorf("push %q as %s: %v, want %q\n%s%s", args, who, err, refused, out, said)
	}
}

func (h helper) sha(rev string) string { return gittest.Run(h.T, h.dir, "rev-parse", rev) }

// Maintainers finish what somebody proposed, with git, on the author's branch:
// on that one, and as long as the author lets them (decision 49).
func TestMaintainersPush(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		s.User(t, "zoe")
		h := helps(t, s)
		const denied = "You may read sam/plot but not push to it: ask for push access."
		const others = "(you may push only to branches of pull requests whose authors let you)"
		h.push(s, "will", denied, "hoes")
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`})
		main := s.Tip(t, "alice", "sam/plot", "main")
		h.push(s, "zoe", denied, "hoes")
		h.push(s, "will", others, "hoes:main")
		h.push(s, "will", others, "hoes:new")
		h.push(s, "will", others, "hoes:refs/tags/hoes")
		h.push(s, "will", others, "hoes:refs/notes/hoes")
		h.push(s, "will", "(you need push access to delete the branch of a pull request)", ":hoes")
		h.push(s, "will", "atomic push failed", "--atomic", "hoes", "hoes:new")
		if got := s.Tip(t, "alice", "sam/plot", "hoes"); got == h.sha("hoes") {
			t.Error("a refused push moved the branch")
		}
		h.push(s, "will", others, "hoes", "hoes:main") // the one is done, the other is not
		if got := s.Tip(t, "alice", "sam/plot", "hoes"); got != h.sha("hoes") {
			t.Errorf("the branch is at %s", got)
		}
		s.Run(t, []apitest.Case{
			{Name: "the pull request follows", Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"mergeable": true, "commits": 2, "head": {"sha": "` + h.sha("hoes") + `"}}`},
			{Name: "other branches are where they were", Do: "GET /repos/sam/plot/git/ref/heads/main",
				Status: 200, Want: `{"object": {"sha": "` + main + `"}}`},
			{Do: "GET /repos/sam/plot/git/ref/heads/new", Status: 404},
		})
		gittest.Run(t, h.dir, "commit", "-q", "--amend", "--allow-empty", "-m", "Help better")
		h.push(s, "will", "", "--force", "hoes")
		edit := func(who, send string) {
			s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot/pulls/1", As: who, Send: send, Status: 200,
				Want: `{"head": {"sha": "` + h.sha("hoes") + `"}}`})
		}
		gone := "hoes~:hoes"
		edit("sam", `{"maintainer_can_modify": false}`)
		h.push(s, "will", denied, "--force", gone)
		edit("sam", `{"maintainer_can_modify": true, "state": "closed"}`)
		h.push(s, "will", denied, "--force", gone)
		edit("sam", `{"state": "open"}`)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/plot/collaborators/will", As: "alice", Status: 204})
		h.push(s, "will", denied, "--force", gone)
		h.push(s, "alice", "", "--force", gone)
		truth(t, s, "alice", "alice/plot")
	})
}

// A private fork stays hidden from the maintainers of its parent, who push there
// only if its owner shows it; and a proposal to one's own fork opens nothing.
func TestMaintainersPushOnlyWhatTheySee(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "will", "sam")
		w := &pullWorld{}
		w.commit("main", "Begin", "", "", one("a", "a\n"))
		plot, _ := w.plant(t, s, "alice/plot", true)
		s.Grant(t, plot, "will", account.Push)
		s.Grant(t, plot, "sam", account.Pull)
		fork(t, s)
		h := helps(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`,
			Want: `{"maintainer_can_modify": true}`})
		h.push(s, "will", "not found", "hoes")
		s.Ask(t, "sam", "PUT /repos/sam/plot/collaborators/will", `{"permission": "pull"}`, 204)
		h.push(s, "will", "", "hoes")
		commit(t, s, "alice/plot", "main", "new.txt", "new")
		s.Check(t, apitest.Case{Do: "POST /repos/sam/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Main", "head": "alice:main", "base": "hoes"}`})
		if _, said, err := gittest.Try(t, h.dir, nil, "push", s.Remote(t, "sam", "alice/plot"),
			"hoes:main"); err == nil || !strings.Contains(string(said), "ask for push access") {
			t.Errorf("sam pushes to alice's main: %s", said)
		}
	})
}

// The author closes the pull request, or keeps the branch, when a push was found
// to be allowed and has not happened yet: it does not happen any more.
func TestMaintainerMayNoLongerPush(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		var left atomic.Int32 // times that somebody looks for the branch before it happens
		var meanwhile func()
		look := func(_ context.Context, query string) {
			if strings.Contains(query, "AND p.open AND p.modifiable") && left.Add(-1) == 0 {
				meanwhile() // during the push's snapshot, which does not see it
			}
		}
		s := apitest.Start(t, engine, func(o *server.Options) {
			o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, engine), Trace: look})
		})
		garden(t, s)
		fork(t, s)
		h := helps(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`})
		head := s.Tip(t, "alice", "sam/plot", "hoes")
		for send, back := range map[string]string{`{"state": "closed"}`: `{"state": "open"}`,
			`{"maintainer_can_modify": false}`: `{"maintainer_can_modify": true}`} {
			edit := func(send string) {
				s.Ask(t, "sam", "PATCH /repos/alice/plot/pulls/1", send, 200)
			}
			meanwhile = func() { edit(send) }
			// the route of the refs, the route of the push, its commands, and before its objects are kept
			left.Store(4)
			h.push(s, "will", "(you may no longer push here)", "hoes")
			if n := left.Load(); n >= 0 {
				t.Errorf("%s: looked %d times, want 5", send, 4-n)
			}
			s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/pulls/1", Status: 200,
				Want: `{"head": {"sha": "` + head + `"}}`})
			if got := s.Tip(t, "alice", "sam/plot", "hoes"); got != head {
				t.Errorf("%s: the branch is at %s", send, got)
			}
			edit(back)
		}
		h.push(s, "will", "", "hoes")
	})
}

// Only users with push access to a branch can allow others: a pull request of another user's branch to
// one's own fork does not open that branch.
func TestLendsOnlyOnesOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		s.User(t, "zoe")
		base := s.Tip(t, "alice", "alice/plot", "slugs")
		s.Run(t, []apitest.Case{
			{Name: "of another's branch into one's own fork", Do: "POST /repos/sam/plot/pulls",
				As: "sam", Status: 201,
				Send: `{"title": "Slugs", "head": "alice:slugs", "base": "hoes", "maintainer_can_modify": true}`, Want: `{"number": 1, "maintainer_can_modify": false}`},
			{Do: "PUT /repos/sam/plot/pulls/1/update-branch", As: "sam", Status: 403,
				Want: `{"message": "Must have push access to the head branch."}`},
			{Name: "nothing was pushed there", Do: "GET /repos/alice/plot/git/ref/heads/slugs", Status: 200,
				Want: `{"object": {"sha": "` + base + `"}}`},
			{Name: "zoe helps sam", Do: "PUT /repos/sam/plot/collaborators/zoe", As: "sam",
				Send: `{"permission": "push"}`, Status: 204},
			{Name: "and proposes his branch", Do: "POST /repos/alice/plot/pulls", As: "zoe", Status: 201,
				Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`,
				Want: `{"number": 1, "maintainer_can_modify": true}`},
		})
		commit(t, s, "alice/plot", "main", "new.txt", "new")
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 202})
		commit(t, s, "alice/plot", "main", "newer.txt", "newer")
		s.Run(t, []apitest.Case{
			{Name: "until she may not push there", Do: "DELETE /repos/sam/plot/collaborators/zoe", As: "sam",
				Status: 204},
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 403},
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "sam", Status: 202},
		})
	})
}

// The author of a pull request from a fork changes who may push there. No one else can.
func TestEditWhoMayModify(t *testing.T) {
	t.Parallel()
	const edit, letting, keeping = "PATCH /repos/alice/plot/pulls/1", `{"maintainer_can_modify": true}`,
		`{"maintainer_can_modify": false}`
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		var made request
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`}).JSON(t, &made)
		for _, k := range kinds {
			if k.kind != "true" && k.kind != "null" {
				s.Check(t, apitest.Case{Name: k.kind, Do: edit, As: "sam",
					Send: `{"title": "New", "maintainer_can_modify": ` + k.json + `}`, Status: 422,
					Want: wrongField("maintainer_can_modify", "invalid")})
			}
		}
		same := `{"title": "Hoes", "maintainer_can_modify": true, "updated_at": "` + made.Updated + `"}`
		s.Run(t, []apitest.Case{
			{Name: "nothing was changed", Do: "GET /repos/alice/plot/pulls/1", Status: 200, Want: same},
			{Name: "as it is", Do: edit, As: "sam", Send: letting, Status: 200, Want: same},
			{Name: "null", Do: edit, As: "sam", Send: `{"maintainer_can_modify": null}`,
				Status: 200, Want: same},
			{Name: "a maintainer does not decide", Do: edit, As: "will", Send: keeping,
				Status: 200, Want: same},
			{Name: "kept", Do: edit, As: "sam", Send: keeping, Status: 200,
				Want: `{"maintainer_can_modify": false}`},
			{Do: "GET /repos/alice/plot/pulls/1", Status: 200, Want: `{"maintainer_can_modify": false}`},
			{Name: "a maintainer does not help himself", Do: edit, As: "will", Send: letting, Status: 200,
				Want: `{"maintainer_can_modify": false}`},
		})
		commit(t, s, "alice/plot", "main", "new.txt", "new")
		s.Run(t, []apitest.Case{
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 403},
			{Name: "let again", Do: edit, As: "sam", Send: letting, Status: 200,
				Want: `{"maintainer_can_modify": true}`},
			{Do: "PUT /repos/alice/plot/pulls/1/update-branch", As: "will", Status: 202},

			{Name: "not of a fork", Do: "POST /repos/alice/plot/pulls", As: "sam",
				Send: `{"title": "Slugs", "head": "slugs", "base": "main"}`, Status: 201,
				Want: `{"number": 2}`},
			{Do: "PATCH /repos/alice/plot/pulls/2", As: "alice", Send: letting, Status: 200,
				Want: `{"maintainer_can_modify": false}`},
			{Name: "of another's branch", Do: "POST /repos/sam/plot/pulls", As: "sam", Status: 201,
				Send: `{"title": "Slugs", "head": "alice:slugs", "base": "hoes"}`, Want: `{"number": 1}`},
			{Do: "PATCH /repos/sam/plot/pulls/1", As: "sam", Send: letting, Status: 200,
				Want: `{"maintainer_can_modify": false}`},
		})
	})
}

// It moves updated_at when it changes, and only then.
func TestEditWhoMayModifyIsAnUpdate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		garden(t, s)
		fork(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/pulls", As: "sam", Status: 201,
			Send: `{"title": "Hoes", "head": "sam:hoes", "base": "main"}`})
		const edit = "PATCH /repos/alice/plot/pulls/1"
		const long = "2001-01-01T00:00:00Z"
		for _, c := range []struct {
			send  string
			moves bool
		}{{`{"maintainer_can_modify": true}`, false}, {`{"maintainer_can_modify": false}`, true},
			{`{"base": "main"}`, false}, {`{"base": "snails"}`, true}} {
			dbtest.Exec(t, s.DB, `UPDATE issues SET updated_at = $1`,
				db.FromTime(time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)))
			var now request
			s.Check(t, apitest.Case{Do: edit, As: "sam", Send: c.send, Status: 200}).JSON(t, &now)
			if moved := now.Updated != long; moved != c.moves {
				t.Errorf("%s: updated_at is %s", c.send, now.Updated)
			}
		}
	})
}

package pulls_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/repo"
	"arbor/internal/test/apitest"
	"arbor/internal/test/gittest"
)

// ownedWorld is alice/garden with a CODEOWNERS file; bob, carol and dave may push, erin may not.
type ownedWorld struct {
	*apitest.Server
	repo *repo.Repo
	dir  string // a clone of dave's
}

const ownedRepo = "/repos/alice/garden"

// newOwned makes the world. main has the files, and its rules apply to alice, too.
func newOwned(t *testing.T, s *apitest.Server, owners string, required bool) *ownedWorld {
	t.Helper()
	s.Users(t, "alice", "bob", "carol", "dave", "erin")
	w := &ownedWorld{s, s.Repo(t, "alice/garden", false), t.TempDir()}
	for _, login := range [...]string{"bob", "carol", "dave"} {
		s.Grant(t, w.repo, login, account.Push)
	}
	gittest.Run(t, "", "clone", "-q", s.Remote(t, "dave", "alice/garden"), w.dir)
	gittest.Run(t, w.dir, "checkout", "-q", "-b", "main")
	w.write(t, map[string]string{".github/CODEOWNERS": owners, "docs/a.md": "a\n", "src/a.go": "a\n", "free.txt": "a\n"})
	w.commit(t, "start")
	gittest.Run(t, w.dir, "push", "-q", "origin", "main")
	if required {
		w.require(t, 0)
	}
	return w
}

// require has main demand reviews of code owners, and a number of approvals.
func (w *ownedWorld) require(t *testing.T, approvals int) {
	t.Helper()
	w.Ask(t, "alice", "PUT "+ownedRepo+"/branches/main/protection", fmt.Sprintf(`{"required_status_checks": null,
		"enforce_admins": true, "restrictions": null, "required_pull_request_reviews":
		{"required_approving_review_count": %d, "require_code_owner_reviews": true}}`, approvals), 200)
}

func (w *ownedWorld) write(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFile(t, w.dir, name, text)
		gittest.Run(t, w.dir, "add", "--", name)
	}
}

func (w *ownedWorld) commit(t *testing.T, message string) {
	t.Helper()
	gittest.Run(t, w.dir, "commit", "-q", "--allow-empty", "-m", message)
}

// propose opens dave's pull request from a new branch of what change does to main, and returns its address.
func (w *ownedWorld) propose(t *testing.T, branch, more string, change func()) string {
	t.Helper()
	gittest.Run(t, w.dir, "fetch", "-q", "origin")
	gittest.Run(t, w.dir, "checkout", "-q", "-B", branch, "origin/main")
	change()
	w.commit(t, branch)
	gittest.Run(t, w.dir, "push", "-q", "origin", branch)
	var made struct{ Number int64 }
	w.Ask(t, "dave", "POST "+ownedRepo+"/pulls", `{"title": "`+branch+`", "head": "`+branch+`", "base": "main"`+more+`}`,
		201).JSON(t, &made)
	return fmt.Sprintf("%s/pulls/%d", ownedRepo, made.Number)
}

// merged reports whether dave can merge a pull request.
func (w *ownedWorld) merged(t *testing.T, pull, method string) (bool, string) {
	t.Helper()
	a := w.Do(t, apitest.Case{Do: "PUT " + pull + "/merge", As: "dave", Send: `{"merge_method": "` + method + `"}`})
	if a.Status != 200 && a.Status != 405 {
		t.Fatalf("merge: %d %s", a.Status, a.Body)
	}
	return a.Status == 200, string(a.Body)
}

func (w *ownedWorld) approve(t *testing.T, pull string, logins ...string) {
	t.Helper()
	for _, login := range logins {
		w.Ask(t, login, "POST "+pull+"/reviews", `{"event": "APPROVE"}`, 200)
	}
}

// asked returns who is asked for a review.
func (w *ownedWorld) asked(t *testing.T, pull string) string {
	t.Helper()
	w.Settle(t)
	var list struct{ Users []struct{ Login string } }
	w.Ask(t, "dave", "GET "+pull+"/requested_reviewers", "", 200).JSON(t, &list)
	var logins []string
	for _, u := range list.Users {
		logins = append(logins, u.Login)
	}
	return strings.Join(logins, " ")
}

// Owners are asked for a review when a pull request opens, becomes ready or changes: once, unless they have
// reviewed it, and never its author, people who may not push, and owners of other files.
func TestCodeOwnersAreAsked(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newOwned(t, s, "/docs/ @BOB @dave @erin @nobody @guild/team\n*.go carol@example.org bob@example.com\n", false)
		s.Email(t, "carol", "Carol@Example.org")
		is := func(pull, want string) {
			t.Helper()
			if got := w.asked(t, pull); got != want {
				t.Errorf("asked: %q, want %q", got, want)
			}
		}
		docs := w.propose(t, "docs", "", func() { w.write(t, map[string]string{"docs/a.md": "b\n"}) })
		s.Settle(t) // people are notified after the commit
		s.Run(t, []apitest.Case{
			{Do: "GET " + docs, Status: 200, Want: `{"requested_reviewers": [{"login": "bob"}]}`},
			{Do: "GET " + strings.Replace(docs, "pulls", "issues", 1) + "/events", Status: 200, Want: `[{"event": "review_requested",
				"actor": {"login": "dave"}, "requested_reviewer": {"login": "bob"}}]`},
			{Do: "GET /notifications", As: "bob", Status: 200, Want: `[{"reason": "review_requested"}]`},
			{Name: "with GraphQL", Do: "POST /graphql", As: "dave", Status: 200,
				Send: `{"query": "{repository(owner:\"alice\",name:\"garden\"){pullRequest(number:1){reviewRequests(first:9){nodes{asCodeOwner requestedReviewer{...on User{login}}}}}}}"}`,
				Want: `{"data": {"repository": {"pullRequest": {"reviewRequests": {"nodes": [{"asCodeOwner": true, "requestedReviewer": {"login": "bob"}}]}}}}}`},
		})
		s.Ask(t, "dave", "DELETE "+docs+"/requested_reviewers", `{"reviewers": ["bob"]}`, 200)
		is(docs, "")
		w.write(t, map[string]string{"src/a.go": "b\n"})
		w.commit(t, "more")
		gittest.Run(t, w.dir, "push", "-q", "origin", "docs")
		is(docs, "bob carol")
		s.Ask(t, "bob", "POST "+docs+"/reviews", `{"event": "COMMENT", "body": "no"}`, 200)
		is(docs, "carol")
		w.write(t, map[string]string{"src/a.go": "c\n"})
		w.commit(t, "more")
		gittest.Run(t, w.dir, "push", "-q", "origin", "docs")
		is(docs, "carol")

		draft := w.propose(t, "draft", `, "draft": true`, func() { w.write(t, map[string]string{"docs/b.md": "b\n"}) })
		is(draft, "")
		s.Ask(t, "dave", "POST /graphql", `{"query": "mutation{markPullRequestReadyForReview(input:{pullRequestId:\"`+
			w.node(t, draft)+`\"}){pullRequest{isDraft reviewRequests(first:9){nodes{asCodeOwner}}}}}"}`, 200)
		is(draft, "bob")

		// The file of the base counts, not that of the pull request, and another base has other owners.
		own := w.propose(t, "own", "", func() {
			w.write(t, map[string]string{".github/CODEOWNERS": "* @carol\n", "free.txt": "b\n"})
		})
		is(own, "")
		gittest.Run(t, w.dir, "push", "-q", "origin", "own:other")
		w.write(t, map[string]string{"free.txt": "c\n"})
		w.commit(t, "more")
		gittest.Run(t, w.dir, "push", "-q", "origin", "own")
		s.Ask(t, "dave", "PATCH "+own, `{"base": "other"}`, 200)
		is(own, "carol")
	})
}

func (w *ownedWorld) node(t *testing.T, pull string) string {
	t.Helper()
	var p struct {
		NodeID string `json:"node_id"`
	}
	w.Ask(t, "dave", "GET "+pull, "", 200).JSON(t, &p)
	return p.NodeID
}

// A rule has the owners of all changed files approve a pull request, whoever else does, and says what is missing.
func TestCodeOwnersMustApprove(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newOwned(t, s, "* @alice\n/docs/ @bob @carol\n/src/ @carol\n/free.txt\n", true)
		const docs = `"Repository rule violations found\n\nWaiting on code owner review from @bob or @carol (\"docs/a.md\").\n"`
		one := w.propose(t, "one", "", func() { w.write(t, map[string]string{"docs/a.md": "b\n"}) })
		w.approve(t, one, "alice")
		s.Run(t, []apitest.Case{
			{Do: "PUT " + one + "/merge", As: "dave", Status: 405, Want: `{"message": ` + docs + `}`},
			{Name: "administrators, too", Do: "PUT " + one + "/merge", As: "alice", Status: 405},
			{Do: "GET " + one, Status: 200, Want: `{"mergeable_state": "blocked"}`},
		})
		w.approve(t, one, "carol")
		s.Ask(t, "bob", "POST "+one+"/reviews", `{"event": "REQUEST_CHANGES", "body": "no"}`, 200)
		if is, why := w.merged(t, one, "merge"); is || !strings.Contains(why, "Changes were requested") {
			t.Errorf("merged against an owner: %s", why)
		}
		w.approve(t, one, "bob")
		s.Check(t, apitest.Case{Do: "GET " + one, Status: 200, Want: `{"mergeable_state": "clean"}`})
		if is, why := w.merged(t, one, "squash"); !is {
			t.Error(why)
		}
		two := w.propose(t, "two", "", func() {
			w.write(t, map[string]string{"docs/a.md": "c\n", "docs/b.md": "c\n", "src/b.go": "c\n", "free.txt": "c\n", "x": "c\n"})
		})
		_, why := w.merged(t, two, "merge")
		for _, want := range []string{"@bob or @carol (\\\"docs/a.md\\\" and 1 file more)", "@carol (\\\"src/b.go\\\")", "@alice (\\\"x\\\")"} {
			if !strings.Contains(why, want) {
				t.Errorf("%s lacks %s", why, want)
			}
		}
		w.approve(t, two, "bob", "alice")
		if is, why := w.merged(t, two, "rebase"); is || strings.Contains(why, "alice") || !strings.Contains(why, "src/b.go") {
			t.Errorf("merged without one owner: %s", why)
		}
		w.approve(t, two, "carol")
		if is, why := w.merged(t, two, "rebase"); !is {
			t.Error(why)
		}
	})
}

// With write access nobody changes an owned path without its owner, whatever they make of it.
func TestNothingGetsPastCodeOwners(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newOwned(t, s, "/docs/ @bob\nlink @bob\nmodule @bob\n/Case @bob\n/odd* @bob\n/.github/ @bob\n/new/ @bob\n", true)
		gitRun := func(args ...string) { gittest.Run(t, w.dir, args...) }
		first := w.propose(t, "first", "", func() {
			w.write(t, map[string]string{"docs/list.txt": strings.Repeat("line\n", 50), "target": "x\n", "Case": "x\n"})
			if err := os.Symlink("target", filepath.Join(w.dir, "link")); err != nil {
				t.Fatal(err)
			}
			gitRun("add", "link")
			gitRun("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module")
		})
		w.approve(t, first, "bob")
		if is, why := w.merged(t, first, "merge"); !is {
			t.Fatal(why)
		}
		for name, change := range map[string]func(){
			"edit":      func() { w.write(t, map[string]string{"docs/list.txt": "x\n"}) },
			"delete":    func() { gitRun("rm", "-q", "docs/list.txt") },
			"mode":      func() { gitRun("update-index", "--chmod=+x", "docs/list.txt") },
			"rename":    func() { gitRun("mv", "docs/list.txt", "mine.txt") },
			"into":      func() { gitRun("mv", "target", "docs/target") },
			"symlink":   func() { gitRun("rm", "-q", "link"); w.write(t, map[string]string{"link": "x\n"}) },
			"submodule": func() { gitRun("update-index", "--cacheinfo", "160000,"+strings.Repeat("2", 40)+",module") },
			"case":      func() { gitRun("rm", "-q", "Case"); w.write(t, map[string]string{"case": "x\n"}) },
			"odd":       func() { w.write(t, map[string]string{"odd \"quoted\"\n\tname": "x\n"}) },
			"owners":    func() { w.write(t, map[string]string{".github/CODEOWNERS": "* @dave\n", "docs/list.txt": "x\n"}) },
			"no owners": func() {
				gitRun("rm", "-q", ".github/CODEOWNERS")
				w.write(t, map[string]string{"docs/list.txt": "x\n"})
			},
			"to a file": func() { gitRun("rm", "-rq", "docs"); w.write(t, map[string]string{"docs": "x\n"}) },
		} {
			branch := strings.ReplaceAll(name, " ", "-")
			pull := w.propose(t, branch, "", change)
			w.approve(t, pull, "carol", "alice")
			for _, method := range [...]string{"merge", "squash", "rebase"} {
				if is, why := w.merged(t, pull, method); is || !strings.Contains(why, "Waiting on code owner review from @bob") {
					t.Errorf("%s by %s: %s", name, method, why)
				}
			}
			gitRun("checkout", "-qf", "origin/main")
			gitRun("clean", "-fdxq")
		}
	})
}

// A transition changes whose approval counts at once: each is asked again by the merge.
func TestCodeOwnersFollowTransitions(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newOwned(t, s, "/docs/ @bob @carol\n", true)
		s.Admin(t, "chief")
		n := 0
		open := func(approvers ...string) string {
			n++
			pull := w.propose(t, fmt.Sprint("b", n), "", func() { w.write(t, map[string]string{"docs/a.md": fmt.Sprint(n, "\n")}) })
			w.approve(t, pull, approvers...)
			return pull
		}
		is := func(what, pull string, want bool) {
			t.Helper()
			if got, why := w.merged(t, pull, "merge"); got != want {
				t.Errorf("%s: merged %v, %s", what, got, why)
			}
		}
		owners := func(text string) { // as the base has it, changed by somebody who may
			t.Helper()
			s.Ask(t, "alice", "DELETE "+ownedRepo+"/branches/main/protection", "", 204)
			gittest.Run(t, w.dir, "fetch", "-q", "origin")
			gittest.Run(t, w.dir, "checkout", "-q", "-B", "edit", "origin/main")
			if text == "" {
				gittest.Run(t, w.dir, "rm", "-q", "--ignore-unmatch", ".github/CODEOWNERS")
			} else {
				w.write(t, map[string]string{".github/CODEOWNERS": text})
			}
			w.commit(t, "owners")
			gittest.Run(t, w.dir, "push", "-q", "origin", "edit:main")
			w.require(t, 0)
		}
		reader := open("erin")
		is("approved by a reader", reader, false)

		pull := open("bob")
		owners("/docs/ @carol\n")
		is("the base has another owner", pull, false)
		owners("/docs/ @bob @carol\n")
		is("the base has the owner again", pull, true)

		pull = open("bob")
		s.Ask(t, "chief", "PATCH /admin/users/bob", `{"login": "robert"}`, 202)
		is("the owner has another login", pull, false)
		owners("/docs/ @robert @carol\n")
		is("the file has it, too", pull, true)

		pull = open("carol")
		s.Ask(t, "alice", "DELETE "+ownedRepo+"/collaborators/carol", "", 204)
		is("the owner cannot push any more", pull, false)
		s.Ask(t, "alice", "DELETE "+ownedRepo+"/collaborators/robert", "", 204)
		is("nobody counts as owner", pull, true)

		s.Grant(t, w.repo, "robert", account.Push)
		pull = open()
		is("an owner counts again", pull, false)
		s.Ask(t, "chief", "DELETE /admin/users/robert", "", 204)
		is("the owner was deleted", pull, true)

		owners("/docs/ @alice\n")
		pull = open()
		is("the owner has not reviewed", pull, false)
		owners("")
		is("there is no file", pull, true)

		owners("/docs/ @alice\n" + strings.Repeat("# "+strings.Repeat("x", 1000)+"\n", 3500))
		pull = open()
		s.Check(t, apitest.Case{Do: "GET " + ownedRepo + "/codeowners/errors", As: "dave", Status: 200,
			Want: `{"errors": [{"kind": "Ignored file", "line": 1, "suggestion": "it is larger than 3 MB"}]}`})
		is("the file is too large", pull, true)
	})
}

// The errors of a file are those of the first place, of any ref. Who may push is told to those who may, too.
func TestCodeOwnersErrors(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := newOwned(t, s, "* @alice @erin\n***/a @bob\n*.go x@example.com @guild/team\n", false)
		const path = ownedRepo + "/codeowners/errors"
		pattern := `{"line": 2, "column": 1, "kind": "Invalid pattern", "source": "***/a @bob", "suggestion": "Did you mean ` +
			"`**/a`" + `?", "message": "Invalid pattern on line 2: Did you mean ` + "`**/a`" + `?\n\n  ***/a @bob\n  ^", "path": ".github/CODEOWNERS"}`
		s.Run(t, []apitest.Case{
			{Do: "GET " + path, Status: 200, Want: `{"errors": [` + pattern + `]}`},
			{Do: "GET " + path, As: "erin", Status: 200, Want: `{"errors": [` + pattern + `]}`},
			{Do: "GET " + path, As: "dave", Status: 200, Want: `{"errors": [{"line": 1, "column": 10, "kind": "Unknown owner",
				"message": "Unknown owner on line 1: make sure @erin exists and has write access to the repository\n\n  * @alice @erin\n           ^"},
				` + pattern + `, {"line": 3, "column": 6, "kind": "Unknown owner"}, {"line": 3, "column": 20,
				"suggestion": "make sure the team @guild/team exists, is publicly visible, and has write access to the repository"}]}`},
			{Do: "GET " + path + "?ref=main", Status: 200, Want: `{"errors": [{}]}`},
			{Do: "GET " + path + "?ref=none", Status: 404},
			{Name: "with GraphQL", Do: "POST /graphql", As: "erin", Status: 200,
				Send: `{"query": "{repository(owner:\"alice\",name:\"garden\"){codeowners(refName:\"main\"){errors{line column kind source suggestion message path}} none: codeowners(refName:\"none\"){errors{line}}}}"}`,
				Want: `{"data": {"repository": {"codeowners": {"errors": [` + pattern + `]}, "none": null}}}`},
		})
		gittest.Run(t, w.dir, "rm", "-q", ".github/CODEOWNERS")
		w.write(t, map[string]string{"docs/CODEOWNERS": "[a] @alice"})
		if err := os.Symlink("docs/CODEOWNERS", filepath.Join(w.dir, "CODEOWNERS")); err != nil {
			t.Fatal(err)
		}
		gittest.Run(t, w.dir, "add", "CODEOWNERS")
		w.commit(t, "elsewhere")
		gittest.Run(t, w.dir, "push", "-q", "origin", "main:linked")
		gittest.Run(t, w.dir, "rm", "-q", "CODEOWNERS")
		w.commit(t, "elsewhere")
		gittest.Run(t, w.dir, "push", "-q", "origin", "main:moved")
		s.Run(t, []apitest.Case{
			{Do: "GET " + path + "?ref=linked", Status: 200, Want: `{"errors": [{"path": "CODEOWNERS", "kind": "Ignored file"}]}`},
			{Do: "GET " + path + "?ref=moved", Status: 200, Want: `{"errors": [{"path": "docs/CODEOWNERS", "kind": "Invalid pattern"}]}`},
			{Do: "GET " + path, Status: 200, Want: `{"errors": [{}]}`},
		})
		s.Check(t, apitest.Case{Do: "PATCH " + ownedRepo, As: "alice", Send: `{"private": true}`, Status: 200})
		s.Check(t, apitest.Case{Do: "GET " + path, As: "erin", Status: 404})
	})
}

package checks_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/apitest"
	"arbor/internal/db"
	"arbor/internal/db/dbtest"
	"arbor/internal/git/gittest"
)

const evil = `"><img onerror=x src=x><script>alert(2)</script>'`

const ci = "ci[bot]"

// plant makes alice's repository plot with an App that checks it, and gives the tip of main.
func plant(t *testing.T, s *apitest.Server) (sha string) {
	t.Helper()
	for _, login := range []string{"alice", "will", "sam"} {
		s.User(t, login)
	}
	r := s.Repo(t, "alice/plot", false)
	s.Grant(t, r, "will", account.Push)
	s.Import(t, r, gittest.Repository(t, 3, 2))
	s.Bot(t, "ci", "alice", "checks=write,statuses=write")
	var ref struct{ Object struct{ SHA string } }
	s.Check(t, apitest.Case{Do: "GET /repos/alice/plot/git/ref/heads/main", Status: 200}).JSON(t, &ref)
	return ref.Object.SHA
}

// run makes a check run and gives its page.
func run(t *testing.T, s *apitest.Server, fields map[string]any) string {
	t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ ID int64 }
	s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/check-runs", As: ci, Send: string(body), Status: 201}).JSON(t, &made)
	return fmt.Sprint("/alice/plot/runs/", made.ID)
}

func notes(n int, message string) (list []any) {
	for i := range n {
		list = append(list, map[string]any{"path": fmt.Sprint("f", i), "start_line": 1, "end_line": 2, "annotation_level": "warning",
			"title": evil, "message": message, "raw_details": evil})
	}
	return list
}

// Everybody who sees a repository reads what its builds say of a commit, harmlessly.
func TestRun(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := plant(t, s)
		page := run(t, s, map[string]any{"name": "tests " + evil, "head_sha": sha, "conclusion": "failure", "details_url": "https://ci.example/1",
			"output": map[string]any{"title": evil, "summary": "It **failed** " + evil, "text": "# Long\n\n- [x] <script>alert(1)</script>[a](javascript:alert(1))", "annotations": notes(2, "Bad "+evil),
				"images": []any{map[string]any{"alt": evil, "image_url": "https://ci.example/p.png", "caption": evil}}},
			"actions": []any{map[string]any{"label": "Mend", "description": "Mends it", "identifier": "mend"}}})
		s.Visit(t, "", "GET "+page).Shows(t, 200, "tests "+evil, "failure", "It <strong>failed</strong>", "Bad "+evil, "2 annotations", "line 1 to 2", "Long</h1>",
			`href="https://ci.example/1"`, "Mends it", `href="https://ci.example/p.png"`)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/statuses/" + sha, As: "will", Status: 201,
			Send: `{"state": "pending", "context": "lint", "description": "<b>waits</b>", "target_url": "https://ci.example/2"}`})
		s.Visit(t, "", "GET /alice/plot/commit/main/checks").Shows(t, 200, "tests "+evil, "lint", "<b>waits</b>", `href="`+page+`"`, `href="https://ci.example/2"`)
		s.Visit(t, "", "GET /alice/plot/commit/nothing/checks").Shows(t, 404)
		for _, id := range []string{"0", "x", "99999999999999999999"} {
			s.Visit(t, "", "GET /alice/plot/runs/"+id).Shows(t, 404)
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot", As: "alice", Send: `{"private": true}`, Status: 200})
		for _, path := range []string{page, "/alice/plot/commit/main/checks"} {
			s.Visit(t, "sam", "GET "+path).Shows(t, 404)
			s.Visit(t, "will", "GET "+path).Shows(t, 200)
		}
	})
}

// What an App sends cannot make a page that no browser shows, and costs a constant number of statements.
func TestBounds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		sha := plant(t, s)
		small := run(t, s, map[string]any{"name": "small", "head_sha": sha, "output": map[string]any{"title": "t", "summary": "s", "annotations": notes(1, "x")}})
		few, fewOfCommit := s.Cost(t, statements, "alice", small), s.Cost(t, statements, "alice", "/alice/plot/commit/main/checks")
		large := run(t, s, map[string]any{"name": "large", "head_sha": sha,
			"output": map[string]any{"title": "t", "summary": strings.Repeat("é", 32_000), "text": strings.Repeat("é", 32_000), "annotations": notes(50, strings.Repeat("é", 15_000))}})
		a := s.Visit(t, "", "GET "+large).Shows(t, 200, "There is more than this page shows")
		if len(a.Body) > 1<<20 || strings.ContainsRune(string(a.Body), '\uFFFD') {
			t.Errorf("%d bytes, or torn characters", len(a.Body))
		}
		if many := s.Cost(t, statements, "alice", large); many > few+2 || many > 20 {
			t.Errorf("%d statements for one annotation, %d for many", few, many)
		}
		for n := range 30 {
			run(t, s, map[string]any{"name": fmt.Sprint("run", n), "head_sha": sha})
		}
		if many := s.Cost(t, statements, "alice", "/alice/plot/commit/main/checks"); many > fewOfCommit+2 || many > 20 {
			t.Errorf("%d statements for one run, %d for many", fewOfCommit, many)
		}
	})
}

package pages_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/gittest"
	"arbor/internal/test/testkit"
)

const ci = "ci[bot]"

// People see what is deployed where, on the page of deployments and on that of a commit's checks.
func TestDeploymentPages(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := checksPlant(t, s)
		s.Visit(t, "", "GET /alice/plot/deployments").Shows(t, 200, "Nothing was deployed yet")
		s.Ask(t, "will", "POST /repos/alice/plot/deployments", `{"ref": "main", "environment": "beds <1>", "description": "<b>x"}`, 201)
		s.Ask(t, "will", "POST /repos/alice/plot/deployments/1/statuses",
			`{"state": "success", "environment_url": "https://beds.example", "log_url": "https://ci.example/1"}`, 201)
		page := s.Visit(t, "", "GET /alice/plot/deployments").Shows(t, 200, "beds <1>", "success", "View deployment")
		page.Harmless(t, "deployments")
		s.Visit(t, "", "GET /alice/plot/deployments?environment=beds+%3C1%3E").Shows(t, 200, "Deployments to beds <1>")
		s.Visit(t, "", "GET /alice/plot/commit/"+sha+"/checks").Shows(t, 200, "Deployed to", "beds <1>")
	})
}

// checksPlant creates alice's repository plot with an App that checks it, and returns the tip of main.
func checksPlant(t *testing.T, s *apitest.Server) (sha string) {
	t.Helper()
	s.Users(t, "alice", "will", "sam")
	r := s.Repo(t, "alice/plot", false)
	s.Grant(t, r, "will", account.Push)
	s.Import(t, r, gittest.Repository(t, 3, 2))
	s.Bot(t, "ci", "alice", "checks=write,statuses=write")
	return s.Tip(t, "", "alice/plot", "main")
}

// run creates a check run and returns its page.
func run(t *testing.T, s *apitest.Server, fields map[string]any) string {
	t.Helper()
	body, err := json.Marshal(fields)
	testkit.NoError(t, err)
	var made struct{ ID int64 }
	s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/check-runs", As: ci, Send: string(body),
		Status: 201}).JSON(t, &made)
	return fmt.Sprint("/alice/plot/runs/", made.ID)
}

func notes(n int, message string) (list []any) {
	for i := range n {
		list = append(list, map[string]any{"path": fmt.Sprint("f", i), "start_line": 1, "end_line": 2,
			"annotation_level": "warning",
			"title":            evil, "message": message, "raw_details": evil})
	}
	return list
}

// Everyone who can see a repository can read the check runs of a commit, safely rendered.
func TestRun(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := checksPlant(t, s)
		page := run(t, s, map[string]any{"name": "tests " + evil, "head_sha": sha, "conclusion": "failure",
			"details_url": "https://ci.example/1",
			"output": map[string]any{"title": evil, "summary": "It **failed** " + evil,
				"text":        "# Long\n\n- [x] <script>alert(1)</script>[a](javascript:alert(1))",
				"annotations": notes(2, "Bad "+evil),
				"images": []any{map[string]any{"alt": evil, "image_url": "https://ci.example/p.png",
					"caption": evil}}},
			"actions": []any{map[string]any{"label": "Mend", "description": "Mends it",
				"identifier": "mend"}}})
		s.Visit(t, "", "GET "+page).Shows(t, 200, "tests "+evil, "failure", "It <strong>failed</strong>",
			"Bad "+evil, "2 annotations", "line 1 to 2", "Long</h1>",
			`href="https://ci.example/1"`, "Mends it", `href="https://ci.example/p.png"`)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/plot/statuses/" + sha, As: "will", Status: 201,
			Send: `{"state": "pending", "context": "lint", "description": "<b>waits</b>", "target_url": "https://ci.example/2"}`})
		s.Visit(t, "", "GET /alice/plot/commit/main/checks").Shows(t, 200, "tests "+evil, "lint",
			"<b>waits</b>", `href="`+page+`"`, `href="https://ci.example/2"`)
		s.Visit(t, "", "GET /alice/plot/commit/nothing/checks").Shows(t, 404)
		for _, id := range []string{"0", "x", "99999999999999999999"} {
			s.Visit(t, "", "GET /alice/plot/runs/"+id).Shows(t, 404)
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot", As: "alice", Send: `{"private": true}`,
			Status: 200})
		for _, path := range []string{page, "/alice/plot/commit/main/checks"} {
			s.Visit(t, "sam", "GET "+path).Shows(t, 404)
			s.Visit(t, "will", "GET "+path).Shows(t, 200)
		}
	})
}

// What an App sends cannot make a page that no browser shows, and costs a constant number of statements.
func TestChecksBounds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		s, statements := apitest.StartCounted(t, engine)
		sha := checksPlant(t, s)
		small := run(t, s, map[string]any{"name": "small", "head_sha": sha,
			"output": map[string]any{"title": "t", "summary": "s", "annotations": notes(1, "x")}})
		few, fewOfCommit := s.Cost(t, statements, "alice", small),
			s.Cost(t, statements, "alice", "/alice/plot/commit/main/checks")
		large := run(t, s, map[string]any{"name": "large", "head_sha": sha,
			"output": map[string]any{"title": "t", "summary": strings.Repeat("é", 32_000),
				"text": strings.Repeat("é", 32_000), "annotations": notes(50, strings.Repeat("é", 15_000))}})
		a := s.Visit(t, "", "GET "+large).Shows(t, 200, "Full output")
		if len(a.Body) > 1<<20 || strings.ContainsRune(string(a.Body), '\uFFFD') {
			t.Errorf("%d bytes, or torn characters", len(a.Body))
		}
		if many := s.CostWithin(t, statements, "alice", large, few+2); many > few+2 || many > 20 {
			t.Errorf("%d statements for one annotation, %d for many", few, many)
		}
		for n := range 30 {
			run(t, s, map[string]any{"name": fmt.Sprint("run", n), "head_sha": sha})
		}
		if many := s.CostWithin(t, statements, "alice", "/alice/plot/commit/main/checks", fewOfCommit+2); many > fewOfCommit+2 ||
			many > 20 {
			t.Errorf("%d statements for one run, %d for many", fewOfCommit, many)
		}
	})
}

// A list shows the beginning of a long annotation. Its own page shows all of it, only to users who can see
// the repository.
func TestWholeAnnotation(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		sha := checksPlant(t, s)
		long := []any{note("short", "brief"), note(strings.Repeat("é", 2000)+"<b>END", "x"),
			note("y", strings.Repeat("z", 2001)+evil)}
		page := run(t, s, map[string]any{"name": "lint", "head_sha": sha,
			"output": map[string]any{"title": "Title", "summary": "Summary", "annotations": long}})
		other := run(t, s, map[string]any{"name": "other", "head_sha": sha})
		a := s.Visit(t, "", "GET "+page).Shows(t, 200, "Summary", "3 annotations", "short", "brief")
		if body := string(a.Body); strings.Count(body, "é") != 2000 || strings.Count(body, "z") > 2100 ||
			strings.Contains(body, "END") {
			t.Error("it shows more than the beginnings")
		}
		links := regexp.MustCompile(`href="([^"]+)">Full output`).FindAllStringSubmatch(
			string(a.Body), -1)
		if len(links) != 2 {
			t.Fatalf("%d links to the rest: %.3000s", len(links), a.Body)
		}
		s.Visit(t, "", "GET "+links[0][1]).Shows(t, 200, "lint", "<b>END", "line 1",
			`href="`+page+`">3 annotations`)
		whole := s.Visit(t, "", "GET "+links[1][1]).Shows(t, 200, "zz"+evil, "<details open>")
		for _, not := range []string{"END", "Summary", "Full output"} {
			if strings.Contains(string(whole.Body), not) {
				t.Errorf("%q is beside the one annotation", not)
			}
		}
		_, id, _ := strings.Cut(links[0][1], "?")
		for _, path := range []string{page + "?annotation=0", page + "?annotation=x",
			page + "?annotation=99999999999999999999", other + "?" + id} {
			s.Visit(t, "", "GET "+path).Shows(t, 404)
		}
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/plot", As: "alice", Send: `{"private": true}`,
			Status: 200})
		s.Visit(t, "sam", "GET "+links[0][1]).Shows(t, 404)
		s.Visit(t, "will", "GET "+links[0][1]).Shows(t, 200, "END")
	})
}

// note is an annotation of the first line of f.
func note(message, details string) map[string]any {
	return map[string]any{"path": "f", "start_line": 1, "end_line": 1, "annotation_level": "failure",
		"message": message, "raw_details": details}
}

// To show a list of annotations or of runs, their texts are not read.
func TestMemory(t *testing.T) {
	apitest.EachAlone(t, func(t *testing.T, s *apitest.Server) {
		sha := checksPlant(t, s)
		most := strings.Repeat("x", 65_535)
		var page string
		for n := range 20 {
			page = run(t, s, map[string]any{"name": fmt.Sprint("run", n), "head_sha": sha,
				"output": map[string]any{"title": "t", "summary": most, "text": most}})
		}
		var id int64
		if _, err := fmt.Sscanf(page, "/alice/plot/runs/%d", &id); err != nil {
			t.Fatal(err)
		}
		many, err := json.Marshal(map[string]any{"output": map[string]any{"summary": "s", "text": "",
			"annotations": notes(50, most)}})
		testkit.NoError(t, err)
		s.Check(t, apitest.Case{Do: fmt.Sprint("PATCH /repos/alice/plot/check-runs/", id), As: ci,
			Send: string(many), Status: 200})
		for _, path := range []string{page, "/alice/plot/commit/" + sha + "/checks",
			"/alice/plot/commits/main"} {
			s.Measure(t, path, "", "text/html") // what is made once
			if m := s.Measure(t, path, "", "text/html"); m.Allocated > 4<<20 {
				t.Errorf("%s takes %d bytes of memory", path, m.Allocated)
			} else {
				t.Logf("%s: %d bytes of memory, %d sent", path, m.Allocated, m.Sent)
			}
		}
	})
}

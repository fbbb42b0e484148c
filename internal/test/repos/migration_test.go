package repos_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/migration"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// migrations are the operations of a server.
func migrations(s *apitest.Server) *migration.Service {
	return migration.New(s.DB, s.Forge, slog.New(slog.DiscardHandler))
}

// export writes a repository into a new folder.
func export(t *testing.T, s *apitest.Server, name string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "export")
	to, err := migration.NewFolder(dir)
	testkit.NoError(t, err)
	owner, short, _ := strings.Cut(name, "/")
	found, err := s.Repos.Find(t.Context(), &account.Caller{SiteAdmin: true}, owner, short)
	testkit.NoError(t, err)
	_, err = migrations(s).Export(t.Context(), &found.Access, to,
		migration.ExportOptions{Address: s.URL, Progress: func(string, int64, int64) {}})
	testkit.NoError(t, err)
	return dir
}

// importFrom imports an export.
func importFrom(ctx context.Context, s *apitest.Server, dir string, o migration.ImportOptions) (*migration.Report, error) {
	from, err := migration.OpenFolder(dir)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	return migrations(s).Import(ctx, from, o)
}

// everybody maps all people of a server to themselves.
func everybody(t *testing.T, s *apitest.Server) map[string]string {
	t.Helper()
	people := map[string]string{}
	testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
		list, err := db.QueryTexts(tx, `SELECT login FROM accounts WHERE kind IN (1, 3)`)
		for _, login := range list {
			people[account.Fold(login)] = login
		}
		return err
	}))
	return people
}

// records reads all records of an export, with their ids replaced by their places, which are the same in another
// export of the same repository.
func records(t *testing.T, dir string) map[migration.Kind][]string {
	t.Helper()
	from, err := migration.OpenFolder(dir)
	testkit.NoError(t, err)
	defer from.Close()
	places := map[migration.Kind]map[string]string{}
	out := map[migration.Kind][]string{}
	for _, k := range migration.Kinds {
		places[k] = map[string]string{}
		testkit.NoError(t, from.Records(t.Context(), k, func(r migration.Record, err error) error {
			places[k][r.Key()] = fmt.Sprint("#", len(places[k])+1)
			return err
		}))
	}
	for _, k := range migration.Kinds {
		testkit.NoError(t, from.Records(t.Context(), k, func(r migration.Record, err error) error {
			place(r, places)
			text, _ := json.Marshal(r)
			out[k] = append(out[k], string(text))
			return err
		}))
	}
	return out
}

// place replaces the ids in a record.
func place(r migration.Record, places map[migration.Kind]map[string]string) {
	put := func(k migration.Kind, ids ...*string) {
		for _, id := range ids {
			if *id != "" {
				*id = places[k][*id]
			}
		}
	}
	switch r := r.(type) {
	case *migration.Issue:
		if r.Pull != nil && strings.HasPrefix(r.Pull.HeadRepo, "guild/") {
			r.Pull.HeadRepo = "guild"
		}
	case *migration.Comment:
		put(migration.Comments, &r.ID)
	case *migration.Review:
		put(migration.Reviews, &r.ID)
	case *migration.ReviewComment:
		put(migration.Reviews, &r.Review)
		put(migration.ReviewComments, &r.ID, &r.ReplyTo)
	case *migration.CommitComment:
		put(migration.CommitComments, &r.ID)
	case *migration.Thread:
		put(migration.ReviewComments, &r.Comment)
	case *migration.Reaction:
		if r.Kind != migration.Issues {
			put(r.Kind, &r.To)
		}
	case *migration.Event:
		put(migration.Events, &r.ID)
		put(migration.Comments, &r.SourceComment)
		put(migration.Reviews, &r.Review)
	case *migration.Release:
		put(migration.Releases, &r.ID)
	case *migration.Asset:
		put(migration.Releases, &r.Release)
		put(migration.Assets, &r.ID)
		r.File.Path = ""
	case *migration.Ruleset:
		put(migration.Rulesets, &r.ID)
	case *migration.Attachment:
		put(migration.Attachments, &r.ID)
		r.File.Path = ""
	}
}

// What is imported from an export is the same again: its export, and what REST shows, but for ids and addresses.
func TestImportOfAnExport(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := fixture.New(t, s)
		talkMore(t, w)
		s.Settle(t)
		first := export(t, s, "guild/goldenrod")
		people := everybody(t, s)
		before := inboxes(t, s)
		report, err := importFrom(t.Context(), s, first, migration.ImportOptions{To: "guild/again", People: people})
		testkit.NoError(t, err)
		for k, c := range report.Counts {
			if c.Failed > 0 && k != migration.Hooks {
				t.Errorf("%d %s did not come: %q", c.Failed, k, report.Problems)
			}
		}
		sound(t, s)
		if after := inboxes(t, s); after != before {
			t.Errorf("the import told somebody: %d rows, before %d", after, before)
		}
		was, is := records(t, first), records(t, export(t, s, "guild/again"))
		for _, k := range migration.Kinds {
			if k == migration.People || k == migration.Hooks {
				continue
			}
			if k != migration.LFSObjects && k != migration.Attachments && len(was[k]) == 0 {
				t.Errorf("the world has no %s", k)
			}
			compareLines(t, k, was[k], is[k])
		}
		for login, role := range fixture.Granted { // who belongs to the repository does not come
			s.Grant(t, s.Access(t, "chief", "guild/again").Repo, login, role)
		}
		s.Grant(t, s.Access(t, "chief", "guild/again").Repo, "neighbour", account.Admin)
		s.Settle(t)
		compareAnswers(t, w, "guild/goldenrod", "guild/again", func(v any) any { return v })

		// A second import finds nothing new.
		report, err = importFrom(t.Context(), s, first, migration.ImportOptions{To: "guild/again", People: people})
		testkit.NoError(t, err)
		for k, c := range report.Counts {
			if c.New+c.Changed > 0 {
				t.Errorf("the second import brought %d new and %d changed %s", c.New, c.Changed, k)
			}
		}
		sound(t, s)

		// Once somebody has worked there, it takes no further import.
		w.OK(t, "keeper", "POST /repos/guild/again/issues", `{"title":"mine"}`)
		if _, err := importFrom(t.Context(), s, first, migration.ImportOptions{To: "guild/again"}); err == nil ||
			!strings.Contains(err.Error(), "people have worked") {
			t.Errorf("an import into a repository in which people work: %v", err)
		}
		if _, err := importFrom(t.Context(), s, first, migration.ImportOptions{}); err == nil ||
			!strings.Contains(err.Error(), "was not imported") {
			t.Errorf("an import into another repository: %v", err)
		}
	})
}

// talkMore adds to goldenrod what the world of all tests lacks.
func talkMore(t *testing.T, w *fixture.World) {
	t.Helper()
	at := "/repos/guild/goldenrod"
	w.OK(t, "writer", "POST "+at+"/issues", `{"title":"A <b>title</b>","body":"@keeper see #1","assignees":["keeper"]}`)
	n := fmt.Sprint(w.OK(t, "writer", "POST "+at+"/issues", `{"title":"Another"}`)["number"])
	w.OK(t, "keeper", "PUT "+at+"/issues/"+n+"/lock", `{"lock_reason":"spam"}`)
	w.OK(t, "keeper", "PATCH "+at+"/issues/"+n, `{"title":"Renamed","state":"closed","state_reason":"not_planned"}`)
	w.OK(t, "keeper", "POST "+at+"/issues/"+n+"/comments", `{"body":"closes nothing, @writer"}`)
	testkit.NoError(t, w.DB.Write(t.Context(), func(tx *db.Tx) error {
		return tx.Run(`INSERT INTO resolved_threads (root_id, issue_id, resolved_by, resolved_at)
			SELECT c.id, c.issue_id, c.author_id, c.created_at FROM review_comments c WHERE c.reply_to IS NULL
			AND NOT c.pending AND c.repo_id IN (SELECT id FROM repos WHERE name = 'goldenrod')`)
	}))
}

// inboxes counts what tells people and programs what happened.
func inboxes(t *testing.T, s *apitest.Server) (n int64) {
	t.Helper()
	testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(`SELECT (SELECT COUNT(*) FROM notification_threads) + (SELECT COUNT(*) FROM notification_acts)
			+ (SELECT COUNT(*) FROM hook_deliveries WHERE event <> 'repository') + (SELECT COUNT(*) FROM mails)
			+ (SELECT COUNT(*) FROM pushed_commits)`).Scan(&n)
	}))
	return n
}

func compareLines(t *testing.T, k migration.Kind, was, is []string) {
	t.Helper()
	if len(was) != len(is) {
		t.Errorf("%d %s, want %d", len(is), k, len(was))
	}
	for n := range min(len(was), len(is)) {
		if was[n] != is[n] {
			t.Errorf("%s: record %d is\n%s\nwant\n%s", k, n, is[n], was[n])
		}
	}
}

// compareAnswers asks for both repositories by REST, and compares the answers as form leaves them.
func compareAnswers(t *testing.T, w *fixture.World, one, other string, form func(v any) any) {
	t.Helper()
	paths := []string{"/issues?state=all", "/labels", "/milestones?state=all", "/releases", "/pulls?state=all",
		"/issues/comments", "/pulls/comments", "/comments", "/topics", "/branches", "/tags", "/issues/events"}
	var list []struct {
		Number int64
		Pull   any `json:"pull_request"`
	}
	all := w.Do(t, apitest.Case{Do: "GET /repos/" + one + "/issues?state=all&per_page=100", As: "keeper"})
	testkit.NoError(t, json.Unmarshal(all.Body, &list))
	for _, i := range list {
		at := fmt.Sprintf("/issues/%d", i.Number)
		paths = append(paths, at, at+"/comments", at+"/events", at+"/timeline", at+"/reactions")
		if i.Pull != nil {
			at := fmt.Sprintf("/pulls/%d", i.Number)
			paths = append(paths, at, at+"/reviews", at+"/comments", at+"/commits", at+"/files", at+"/requested_reviewers")
		}
	}
	for _, path := range paths {
		was, is := plain(t, w, one, path, form), plain(t, w, other, path, form)
		if was != is {
			t.Errorf("%s is\n%s\nwant\n%s", path, is, was)
		}
	}
}

// plain is an answer without ids and addresses.
func plain(t *testing.T, w *fixture.World, name, path string, form func(v any) any) string {
	t.Helper()
	a := w.Do(t, apitest.Case{Do: "GET /repos/" + name + path, As: "keeper", Headers: fixture.Graduated})
	if a.Status != 200 {
		t.Fatalf("GET %s of %s: %d %s", path, name, a.Status, a.Body)
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(a.Body))
	d.UseNumber()
	testkit.NoError(t, d.Decode(&v))
	text, err := json.Marshal(form(withoutIDs(v, name)))
	testkit.NoError(t, err)
	return string(text)
}

// withoutIDs removes ids, addresses, the repository's own description of itself, and references from other repositories,
// which do not come.
func withoutIDs(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			switch {
			case key == "id", key == "node_id", strings.HasSuffix(key, "_id"), strings.HasSuffix(key, "url"), key == "_links",
				key == "repo", key == "repository", key == "performed_via_github_app":
				delete(v, key)
			default:
				v[key] = withoutIDs(value, name)
			}
		}
	case []any:
		var list []any
		for _, one := range v {
			if e, ok := one.(map[string]any); ok && e["event"] == "cross-referenced" &&
				!strings.Contains(fmt.Sprint(e["source"]), "/"+name+"/issues") {
				continue
			}
			list = append(list, withoutIDs(one, name))
		}
		return list
	}
	return v
}

// An import that is stopped at any record and then run again ends as one that was not stopped.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		w := fixture.New(t, s)
		talkMore(t, w)
		s.Settle(t)
		dir := export(t, s, "guild/goldenrod")
		want := records(t, dir)
		people := everybody(t, s)
		for stop := int64(1); ; stop += 7 {
			name := fmt.Sprint("guild/stopped-", stop)
			ctx, cancel := context.WithCancel(t.Context())
			var steps int64
			_, err := importFrom(ctx, s, dir, migration.ImportOptions{To: name, People: people,
				Progress: func(string, int64, int64) {
					if steps++; steps == stop {
						cancel()
					}
				}})
			cancel()
			ended := err == nil
			_, err = importFrom(t.Context(), s, dir, migration.ImportOptions{To: name, People: people})
			testkit.NoError(t, err)
			got := records(t, export(t, s, name))
			for _, k := range migration.Kinds[1:] {
				if k != migration.Hooks {
					compareLines(t, k, want[k], got[k])
				}
			}
			if ended {
				break
			}
		}
		sound(t, s)
	})
}

// Records that cannot be are told of, and the others come.
func TestImportOfBadRecords(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		dir := t.TempDir()
		putFile(t, dir, "repository.json", `{"format":1,"source":"https://code.example.com/acme/bad","name":"acme/bad",
			"default_branch":"main","created_at":"2020-01-01T00:00:00Z","records":{"issues":9}}`)
		putFile(t, dir, "people.jsonl", `{"login":"alice","name":"Another <b>Alice</b>","emails":["alice@example.com"]}
{"login":"bob"}`)
		putFile(t, dir, "labels.jsonl", `{"name":"bug","color":"red"}
{"name":"BUG","color":"ff0000"}
`)
		putFile(t, dir, "issues.jsonl", strings.Join([]string{
			`{"number":1,"title":"One","body":"see https://code.example.com/acme/bad/issues/2, @bob","author":"alice","state":"open","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z","labels":["bug","none"]}`,
			`{"number":1,"title":"One again","state":"open","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}`,
			`{"number":2,"title":"Late","state":"open","created_at":"2920-01-01T00:00:00Z","updated_at":"2920-01-01T00:00:00Z"}`,
			`{"number":3,"title":"","state":"closed","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}`,
			`{"number":-4,"title":"No","state":"open"}`,
			`{"number":5,"title":"Of itself","state":"open","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z","pull":{"base":"main","head":"main","head_repo":"acme/bad","base_sha":"` + strings.Repeat("a", 40) + `","head_sha":"` + strings.Repeat("a", 40) + `"}}`,
			`not JSON`,
			`{"number":6,"title":"Half"`,
		}, "\n"))
		putFile(t, dir, "comments.jsonl", `{"id":"1","issue":1,"body":"by nobody","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}
{"id":"2","issue":99,"body":"on nothing","created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-01T00:00:00Z"}
`)
		report, err := importFrom(t.Context(), s, dir, migration.ImportOptions{To: "garden/bad"})
		testkit.NoError(t, err)
		var out strings.Builder
		testkit.NoError(t, report.Write(&out))
		for _, want := range []string{"label \"bug\": the color", "label \"BUG\": it comes twice", "issue 1: it comes twice",
			"issue 2: the time 2920", "issue -4: invalid number -4", "pull request 5 came as a closed issue",
			"issues.jsonl line 7:", "ends in the middle of a record", "announced 9 records and gave 8",
			"its label \"none\" is not there", "there is no issue 99", "alice at code.example.com"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the report does not say %q:\n%s", want, out.String())
			}
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/garden/bad/issues/1", As: "alice", Status: 200, Want: `{"title":"One","comments":1,
				"body":"see #2, bob at code.example.com","created_at":"2020-01-01T00:00:00Z",
				"user":{"login":"alice[code.example.com]","type":"Mannequin"},"labels":[{"name":"bug"}]}`},
			{Do: "GET /repos/garden/bad/issues/1/comments", As: "alice", Status: 200, Want: `[{"user":{"login":"ghost"}}]`},
			{Do: "GET /repos/garden/bad/issues/5", As: "alice", Status: 200, Want: `{"state":"closed"}`},
			{Do: "GET /repos/garden/bad/issues/4", As: "alice", Status: 404},
			{Do: "GET /users/alice%5Bcode.example.com%5D", As: "alice", Status: 200, Want: `{"type":"Mannequin"}`},
		})
		mannequins := func() string {
			return string(s.Ask(t, "alice", "POST /graphql", `{"query":"{organization(login:\"garden\"){mannequins(first:9){nodes{login}}}}"}`,
				200).Body)
		}
		if all := mannequins(); !strings.Contains(all, "alice[code.example.com]") {
			t.Errorf("an owner does not see whom an import named: %s", all)
		}
		if a := s.Ask(t, "alice", "GET /users?per_page=100", "", 200); strings.Contains(string(a.Body), "code.example.com") {
			t.Errorf("a mannequin is in the list of users: %s", a.Body)
		}
		sound(t, s)

		// Claimed, all is alice's, and what comes later as well.
		_, _, err = s.Forge.ClaimMannequin(t.Context(), s.DB, "alice[code.example.com]", "will")
		testkit.NoError(t, err)
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/garden/bad/issues/1", As: "alice", Status: 200, Want: `{"user":{"login":"will","type":"User"}}`},
			{Do: "GET /repos/garden/bad/issues?creator=will", As: "alice", Status: 200, Want: `[{"number":1}]`},
			{Do: "GET /users/alice%5Bcode.example.com%5D", As: "alice", Status: 404},
		})
		if all := mannequins(); strings.Contains(all, "alice") {
			t.Errorf("one that was claimed is still a mannequin: %s", all)
		}
		sound(t, s)

		putFile(t, dir, "repository.json", `{"format":2}`)
		if _, err := importFrom(t.Context(), s, dir, migration.ImportOptions{To: "garden/worse"}); err == nil ||
			!strings.Contains(err.Error(), "format 2 is unknown") {
			t.Errorf("an unknown format: %v", err)
		}
	})
}

func putFile(t *testing.T, dir, name, text string) {
	t.Helper()
	testkit.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

// A later import brings what is new and what has changed, and a dry run brings nothing.
func TestImportBringsWhatIsNew(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		dir := t.TempDir()
		const times = `"created_at":"2020-01-01T00:00:00Z","updated_at":"2020-01-02T00:00:00Z"`
		putFile(t, dir, "repository.json", `{"format":1,"source":"https://code.example.com/acme/new","name":"acme/new",
			"default_branch":"main","created_at":"2020-01-01T00:00:00Z","topics":["trees"]}`)
		putFile(t, dir, "labels.jsonl", `{"name":"bug","color":"ff0000"}`)
		putFile(t, dir, "issues.jsonl", `{"number":1,"title":"One","state":"open","author":"ann","assignees":["will"],`+times+`}
{"number":3,"title":"Three","state":"open",`+times+`}`)
		putFile(t, dir, "comments.jsonl", `{"id":"7","issue":1,"body":"first","author":"will",`+times+`}`)
		o := migration.ImportOptions{To: "garden/new", People: map[string]string{"will": "will"}}
		dry := o
		dry.DryRun = true
		report, err := importFrom(t.Context(), s, dir, dry)
		testkit.NoError(t, err)
		if report.Counts[migration.Issues].New != 2 || len(report.Mannequins) != 1 {
			t.Errorf("a dry run: %+v", report)
		}
		s.Ask(t, "alice", "GET /repos/garden/new", "", 404)
		s.Ask(t, "alice", "GET /users/ann%5Bcode.example.com%5D", "", 404)

		_, err = importFrom(t.Context(), s, dir, o)
		testkit.NoError(t, err)
		putFile(t, dir, "issues.jsonl", `{"number":1,"title":"One more","state":"closed","author":"ann","labels":["bug"],`+times+`}
{"number":3,"title":"Three","state":"open",`+times+`}
{"number":4,"title":"Four","state":"open","author":"will",`+times+`}`)
		putFile(t, dir, "comments.jsonl", `{"id":"7","issue":1,"body":"first, edited","author":"will",`+times+`}
{"id":"8","issue":3,"body":"second",`+times+`}`)
		report, err = importFrom(t.Context(), s, dir, o)
		testkit.NoError(t, err)
		if c := *report.Counts[migration.Issues]; c != (migration.Count{New: 1, Changed: 1, Same: 1}) {
			t.Errorf("issues: %+v", c)
		}
		if c := *report.Counts[migration.Comments]; c != (migration.Count{New: 1, Changed: 1}) {
			t.Errorf("comments: %+v", c)
		}
		s.Run(t, []apitest.Case{
			{Do: "GET /repos/garden/new", As: "alice", Status: 200, Want: `{"open_issues_count":2,"topics":["trees"],
				"created_at":"2020-01-01T00:00:00Z"}`},
			{Do: "GET /repos/garden/new/issues/1", As: "alice", Status: 200, Want: `{"title":"One more","state":"closed",
				"assignee":null,"labels":[{"name":"bug"}],"comments":1}`},
			{Do: "GET /repos/garden/new/issues/1/comments", As: "alice", Status: 200, Want: `[{"body":"first, edited"}]`},
			{Do: "GET /repos/garden/new/issues?state=all&labels=bug", As: "alice", Status: 200, Want: `[{"number":1}]`},
			{Do: "GET /repos/garden/new/issues?assignee=will&state=all", As: "alice", Status: 200, Body: "[]"},
			{Do: "GET /repos/garden/new/issues/2", As: "alice", Status: 404},
		})
		sound(t, s)
		made := s.Ask(t, "alice", "POST /repos/garden/new/releases", `{"tag_name":"v1","draft":true}`, 201)
		if _, err := importFrom(t.Context(), s, dir, o); err == nil || !strings.Contains(err.Error(), "people have worked") {
			t.Errorf("an import into a repository with a release of its own: %v", err)
		}
		var release struct{ ID int64 }
		made.JSON(t, &release)
		s.Ask(t, "alice", fmt.Sprint("DELETE /repos/garden/new/releases/", release.ID), "", 204)
		if a := s.Ask(t, "alice", `POST /repos/garden/new/issues`, `{"title":"ours"}`, 201); !strings.Contains(string(a.Body), `"number":5`) {
			t.Errorf("the next issue is not 5: %s", a.Body)
		}
	})
}

package repos_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/migration"
	"arbor/internal/test/apitest"
	"arbor/internal/test/testkit"
)

// Webhooks come inactive, without secrets, and with the events that are known here; those of inner networks do not.
func TestImportOfWebhooks(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice")
		dir := filepath.Join(t.TempDir(), "export")
		to, err := migration.NewSpool(dir)
		testkit.NoError(t, err)
		add := func(id, address string, events ...string) {
			t.Helper()
			testkit.NoError(t, to.Add(migration.Hooks, &migration.Hook{ID: id, URL: address, ContentType: "json", Active: true,
				HadSecret: true, Events: events}))
		}
		add("1", "https://hooks.example/ci", "push", "issues", "wiki")
		add("2", "http://10.0.0.1/inner", "push")
		add("3", "https://alice:secret@hooks.example/", "push")
		add("4", "https://hooks.example/ci", "push")
		add("5", "https://hooks.example/wiki", "wiki")
		testkit.NoError(t, to.Close(&migration.Repository{Format: migration.Format, Source: "https://code.example.com/a/b",
			Name: "a/b", DefaultBranch: "main", CreatedAt: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)}))
		for range 2 {
			report, err := importFrom(t.Context(), s, dir, migration.ImportOptions{To: "alice/tool"})
			testkit.NoError(t, err)
			if c := report.Counts[migration.Hooks]; c.New+c.Same != 1 || c.Failed != 4 {
				t.Errorf("%+v", c)
			}
			said := strings.Join(report.Problems, "\n")
			if c := report.Counts[migration.Hooks]; c.New == 1 && (!strings.Contains(said, "enter its secret and switch it on") ||
				!strings.Contains(said, "left out: wiki")) {
				t.Error(said)
			}
		}
		s.Run(t, []apitest.Case{{Do: "GET /repos/alice/tool/hooks", As: "alice", Status: 200,
			Want: `[{"active":false,"events":["issues","push"],"config":{"url":"https://hooks.example/ci","content_type":"json"}}]`}})
		a := s.Ask(t, "alice", "GET /repos/alice/tool/hooks", "", 200)
		if strings.Contains(string(a.Body), `"secret"`) {
			t.Errorf("%s", a.Body)
		}
		testkit.NoError(t, s.DB.Read(t.Context(), func(tx *db.Tx) error {
			var n int64
			err := tx.QueryRow(`SELECT COUNT(*) FROM hook_deliveries`).Scan(&n)
			if n > 0 {
				t.Errorf("%d deliveries", n)
			}
			return err
		}))
	})
}

// Nobody is asked for a review who may not see the repository.
func TestImportedReviewRequests(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Ask(t, "alice", "POST /user/repos", `{"name":"garden","private":true,"auto_init":true}`, 201)
		const path = "/repos/alice/garden"
		for _, login := range []string{"bob", "carol"} {
			s.Grant(t, s.Access(t, "alice", "alice/garden").Repo, login, account.Push)
		}
		s.Ask(t, "alice", "PUT "+path+"/contents/a", `{"message":"a","content":"YQ==","branch":"main"}`, 201)
		s.Ask(t, "alice", "POST "+path+"/git/refs", fmt.Sprintf(`{"ref":"refs/heads/topic","sha":%q}`, s.Tip(t, "alice", "alice/garden", "main")), 201)
		s.Ask(t, "alice", "PUT "+path+"/contents/b", `{"message":"b","content":"YQ==","branch":"topic"}`, 201)
		s.Ask(t, "alice", "POST "+path+"/pulls", `{"title":"B","base":"main","head":"topic"}`, 201)
		s.Ask(t, "alice", "POST "+path+"/pulls/1/requested_reviewers", `{"reviewers":["bob","carol"]}`, 201)
		s.Settle(t)
		dir := export(t, s, "alice/garden")
		s.Ask(t, "alice", "POST /user/repos", `{"name":"again","private":true}`, 201)
		s.Grant(t, s.Access(t, "alice", "alice/again").Repo, "carol", account.Pull)
		report, err := importFrom(t.Context(), s, dir, migration.ImportOptions{To: "alice/again", People: everybody(t, s)})
		testkit.NoError(t, err)
		if said := strings.Join(report.Problems, "\n"); !strings.Contains(said, "bob may not see the repository") {
			t.Error(said)
		}
		s.Run(t, []apitest.Case{{Do: "GET /repos/alice/again/pulls/1/requested_reviewers", As: "alice", Status: 200,
			Want: `{"users":[{"login":"carol"}]}`}})
		sound(t, s)
	})
}

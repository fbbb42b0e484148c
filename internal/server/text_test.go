package server_test

import (
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/fsck"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/fixture"
	"arbor/internal/test/testkit"
)

// textOfAccounts reads how many bytes of text each account has written, by login.
func textOfAccounts(t *testing.T, s *apitest.Server) map[string]int64 {
	t.Helper()
	counts := map[string]int64{}
	err := s.DB.Read(t.Context(), func(tx *db.Tx) error {
		return db.QueryEach(tx, func(row db.Scanner) error {
			var login string
			var n int64
			err := row.Scan(&login, &n)
			counts[login] = n
			return err
		}, `SELECT a.login, t.bytes FROM text_counts t JOIN accounts a ON a.id = t.account_id`)
	})
	testkit.NoError(t, err)
	return counts
}

func store(t *testing.T, s *apitest.Server, query string, args ...any) {
	t.Helper()
	testkit.NoError(t, s.DB.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	}))
}

// soundTexts looks through the store, whose counters must be right.
func soundTexts(t *testing.T, s *apitest.Server) {
	t.Helper()
	r, err := fsck.Run(t.Context(), fsck.Options{DB: s.DB, Git: s.Git, Folder: s.Dir,
		Log: slog.New(slog.DiscardHandler)})
	testkit.NoError(t, err)
	for _, f := range r.Findings {
		if f.Part == "counters" {
			t.Errorf("%s: %s", f.Repository, f.Problem)
		}
	}
}

// Texts count for their writer until they are deleted. An account at its limit cannot write more, but can
// shorten and delete texts. Otherwise one account could fill the disk with comments.
func TestTextsCountForTheirWriter(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob", "carol")
		s.Admin(t, "chief")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "alice/yard", false)
		text := strings.Repeat("a", 60_000)
		issue := apitest.Case{Do: "POST /repos/alice/garden/issues", As: "bob", Status: 201,
			Send: `{"title": "x", "body": "` + text + `"}`}
		comment := apitest.Case{Do: "POST /repos/alice/garden/issues/1/comments", As: "bob", Status: 201,
			Send: `{"body": "` + text + `"}`}
		s.Check(t, issue)
		s.Check(t, comment)
		if n := textOfAccounts(t, s); n["bob"] < 120_000 || n["bob"] > 122_000 || n["alice"] != 0 {
			t.Fatalf("counted are %v", n)
		}
		soundTexts(t, s)

		most := int64(150) // KiB
		if _, _, u, err := s.Accounts.EditQuota(t.Context(), nil, account.User, "bob",
			func(q *account.Quota) { q.Text = &most }); err != nil || u.TextKB < 118 {
			t.Fatalf("%+v, %v", u, err)
		}
		comment.Status = 403
		refused := s.Check(t, comment)
		if !strings.Contains(string(refused.Body), "150 KiB") {
			t.Errorf("%s", refused.Body)
		}
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "bob", Status: 200, Send: `{"query": "mutation { addComment(input: {subjectId: \"` +
			nodeOf(t, s, "/repos/alice/garden/issues/1") + `\", body: \"` + text + `\"}) { clientMutationId } }"}`,
			Want: `{"errors": [{"type": "FORBIDDEN"}]}`})
		s.Visit(t, "bob", "POST /alice/garden/issues/1/comments", "body", text).Shows(t, 403, "150 KiB")
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/issues/1", As: "bob", Status: 200,
			Send: `{"body": "short"}`})
		comment.Status = 201
		s.Check(t, comment) // there is room again
		s.Check(t, apitest.Case{Do: "PUT /user/starred/alice/garden", As: "bob", Status: 204})
		soundTexts(t, s)

		right := textOfAccounts(t, s)
		for _, damage := range []string{`UPDATE text_counts SET bytes = bytes + 5`, `DELETE FROM text_counts`} {
			store(t, s, damage)
			if _, err := fsck.Run(t.Context(), fsck.Options{DB: s.DB, Git: s.Git, Folder: s.Dir, Repair: true,
				Log: slog.New(slog.DiscardHandler)}); err != nil {
				t.Fatal(err)
			}
			if n := textOfAccounts(t, s); !maps.Equal(n, right) {
				t.Errorf("%s: repaired are %v, right are %v", damage, n, right)
			}
		}

		// What is handed over, and what goes in pieces or with an account.
		s.Visit(t, "alice", "POST /alice/garden/issues/1/transfer", "to", "alice/yard").Shows(t, 303)
		soundTexts(t, s)
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "carol", Status: 201,
			Send: `{"title": "y", "body": "` + text + `"}`})
		s.Check(t, apitest.Case{Do: "DELETE /admin/users/carol", As: "chief", Status: 204})
		if n := textOfAccounts(t, s); n["ghost"] < 60_000 || n["carol"] != 0 {
			t.Errorf("after the deletion of an account: %v", n)
		}
		soundTexts(t, s)
		for _, name := range []string{"garden", "yard"} {
			s.Check(t, apitest.Case{Do: "DELETE /repos/alice/" + name, As: "alice", Status: 204})
		}
		testkit.Eventually(t, func() bool {
			n := textOfAccounts(t, s)
			return n["bob"] == 0 && n["ghost"] == 0
		}, "no text is left")
		soundTexts(t, s)
	})
}

// nodeOf is the global id of what an address shows.
func nodeOf(t *testing.T, s *apitest.Server, path string) string {
	t.Helper()
	var is struct {
		ID string `json:"node_id"`
	}
	s.Check(t, apitest.Case{Do: "GET " + path, Status: 200}).JSON(t, &is)
	return is.ID
}

// Within an hour an account writes so much and no more, edits included, also by the bots of its Apps. The
// answer is GitHub's for too many writes.
func TestTextsHaveARate(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/garden", false)
		s.Bot(t, "helper", "alice", "issues=write,metadata=read")
		text := strings.Repeat("a", 40_000)
		issue := apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
			Send: `{"title": "x", "body": "` + text + `"}`}
		s.Check(t, issue)
		edit := apitest.Case{Do: "PATCH /repos/alice/garden/issues/1", As: "alice", Status: 200,
			Send: `{"body": "` + strings.Repeat("b", 40_000) + `"}`}
		s.Check(t, edit)
		edit.Send = strings.ReplaceAll(edit.Send, "b", "c")
		edit.Send, edit.Status = strings.Replace(edit.Send, "cody", "body", 1), 403
		a := s.Check(t, edit)
		if wait := a.Header.Get("Retry-After"); wait < "3500" || wait > "3600" || len(wait) != 4 ||
			!strings.Contains(string(a.Body), "You have exceeded a secondary rate limit") {
			t.Errorf("%q: %s", wait, a.Body)
		}
		issue.As, issue.Status = "helper[bot]", 403
		s.Check(t, issue)
		issue.As, issue.Status = "bob", 201
		s.Check(t, issue)
		s.Check(t, apitest.Case{Do: "PUT /user/starred/alice/garden", As: "alice", Status: 204})
		store(t, s, `UPDATE text_counts SET hour = hour - 3600000001`) // an hour later
		edit.Status = 200
		s.Check(t, edit)
	}, func(o *server.Options) { o.TextRate = 100_000 })
}

// Whatever route an account at its bound asks for, it has written no more afterwards; only what it takes away
// leaves a note in a timeline. If a route could be forgotten, that would be the one that fills the disk.
func TestNoRouteWritesPastTheTextQuota(t *testing.T) {
	t.Parallel()
	walk(t, func(t *testing.T, s *apitest.Server) {
		w := newWalker(t, s)
		refused := 0
		for _, r := range fixture.Walked(s.Server.Routes()) {
			if r.Method == http.MethodGet || r.Method == http.MethodDelete {
				continue
			}
			q := w.Request(t, &r, w.Homes[0])
			w.settle(t)
			store(t, s, `UPDATE accounts SET quota_text_kb = 0`)
			before := textOfAccounts(t, s)
			a := w.ask(t, q.Who, q.Case)
			for login, n := range textOfAccounts(t, s) {
				if n > before[login] {
					t.Errorf("%s as %s, which answers %d, adds %d bytes of text of %s",
						q.Do, q.Who, a.Status, n-before[login], login)
				}
			}
			if a.Status == 403 && strings.Contains(string(a.Body), "The texts of") {
				refused++
			}
			store(t, s, `UPDATE accounts SET quota_text_kb = NULL`)
		}
		if refused < 20 {
			t.Errorf("only %d routes were refused", refused)
		}
	})
}

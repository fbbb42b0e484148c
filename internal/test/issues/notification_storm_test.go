package issues_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"arbor/internal/notification"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// Many comments on one issue cost its many watchers one thread each, and nothing is left to tell.
func TestStorm(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		world(t, s)
		const crowd = 900 // more than are notified in one transaction
		for n := range crowd {
			exec(t, s, `INSERT INTO accounts (login, login_folded, kind, created_at, updated_at) VALUES ($1, $1, 1, 1, 1)`, fmt.Sprint("w", n))
		}
		exec(t, s, `INSERT INTO watches (user_id, repo_id, private, created_at)
			SELECT id, 1, FALSE, 5 FROM accounts WHERE login LIKE 'w%'`)
		s.Ask(t, "bob", "POST "+issues, `{"title": "Slugs"}`, 201)
		for range 30 {
			s.Ask(t, "dan", "POST "+issues+"/1/comments", `{"body": "again"}`, 201)
		}
		expect(t, s, map[string]string{"bob": "Slugs:author", "carol": "Slugs:subscribed"})
		n := dbtest.Number(t, s.DB, `SELECT count(*) FROM notification_threads WHERE reason = 1 AND unread`)
		if n != crowd+1 {
			t.Errorf("%d watchers are told, want %d", n, crowd+1)
		}
	})
}

// Threads read long ago are deleted, and subjects without threads. New ones are kept.
func TestPruning(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		world(t, s)
		for _, title := range []string{"Old", "New"} {
			s.Ask(t, "bob", "POST "+issues, `{"title": "`+title+`", "body": "@eve"}`, 201)
		}
		const month = 30 * 24 * 3600 * 1_000_000
		settle(t, s)
		exec(t, s, `UPDATE notification_threads SET updated_at = updated_at - $1 WHERE subject_id = 1`,
			4*month)
		p := notification.NewPruner(s.DB, slog.New(s.Log))
		for _, want := range []int64{4, 2} { // unread ones stay; read ones go
			testkit.NoError(t, p.Prune(t.Context()))
			if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM notification_threads`); n != want {
				t.Errorf("%d threads are left, want %d", n, want)
			}
			exec(t, s, `UPDATE notification_threads SET unread = FALSE`)
		}
		if n := dbtest.Number(t, s.DB, `SELECT count(*) FROM notification_subjects`); n != 1 {
			t.Errorf("%d subjects are left", n)
		}
	})
}

// Who asks again with the time of the last answer hears at once that nothing is new, also directly after
// something was; and hears each time of what came within the same second.
func TestTheTimeOfAListIsItsOwn(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		world(t, s)
		get := func(since string) (status int, modified string) {
			t.Helper()
			settle(t, s)
			a := s.Do(t, apitest.Case{Do: "GET /notifications", As: "eve",
				Headers: map[string]string{"If-Modified-Since": since}})
			return a.Status, a.Header.Get("Last-Modified")
		}
		mention := func() { s.Ask(t, "bob", "POST "+issues, `{"title": "x", "body": "@eve"}`, 201) }
		mention()
		_, last := get("")
		if status, _ := get(last); status != http.StatusNotModified {
			t.Errorf("the list of a moment before is a %d", status)
		}
		for n := range 4 {
			mention()
			var status int
			if status, last = get(last); status != http.StatusOK {
				t.Errorf("mention %d: a %d", n, status)
			}
		}
		testkit.Eventually(t, func() bool {
			status, modified := get(last)
			last = modified
			return status == http.StatusNotModified
		}, "nothing is new")
	})
}

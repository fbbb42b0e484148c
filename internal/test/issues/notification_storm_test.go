package issues_test

import (
	"fmt"
	"testing"

	"arbor/internal/test/apitest"
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
		do(t, s, "bob", 201, "POST "+issues, `{"title": "Slugs"}`)
		for range 30 {
			do(t, s, "dan", 201, "POST "+issues+"/1/comments", `{"body": "again"}`)
		}
		expect(t, s, map[string]string{"bob": "Slugs:author", "carol": "Slugs:subscribed"})
		if n := count(t, s, `SELECT count(*) FROM notification_threads WHERE reason = 1 AND unread`); n != crowd+1 {
			t.Errorf("%d watchers are told, want %d", n, crowd+1)
		}
	})
}

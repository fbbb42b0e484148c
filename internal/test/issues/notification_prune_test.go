package issues_test

import (
	"log/slog"
	"testing"

	"arbor/internal/notification"
	"arbor/internal/test/apitest"
)

// Threads read long ago are deleted, and subjects without threads. New ones are kept.
func TestPruning(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		world(t, s)
		for _, title := range []string{"Old", "New"} {
			do(t, s, "bob", 201, "POST "+issues, `{"title": "`+title+`", "body": "@eve"}`)
		}
		const month = 30 * 24 * 3600 * 1_000_000
		settle(t, s)
		exec(t, s, `UPDATE notification_threads SET updated_at = updated_at - $1 WHERE subject_id = 1`,
			4*month)
		p := notification.NewPruner(s.DB, slog.New(s.Log))
		for _, want := range []int64{4, 2} { // unread ones stay; read ones go
			if err := p.Prune(t.Context()); err != nil {
				t.Fatal(err)
			}
			if n := count(t, s, `SELECT count(*) FROM notification_threads`); n != want {
				t.Errorf("%d threads are left, want %d", n, want)
			}
			exec(t, s, `UPDATE notification_threads SET unread = FALSE`)
		}
		if n := count(t, s, `SELECT count(*) FROM notification_subjects`); n != 1 {
			t.Errorf("%d subjects are left", n)
		}
	})
}

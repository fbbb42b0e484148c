package repos_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"testing"

	"arbor/internal/db"
	"arbor/internal/issue"
	"arbor/internal/search"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
	"arbor/internal/test/testkit"
)

// BenchmarkSearchNames is a page that no cache has seen, of a store with 100,000 repositories, a tenth
// of them private, and as many accounts, over HTTP.
func BenchmarkSearchNames(b *testing.B) {
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		s := apitest.Start(b, engine)
		alice := s.User(b, "alice")
		fill := func(statement string, args ...any) {
			b.Helper()
			dbtest.Exec(b, s.DB, statement, args...)
		}
		const numbers = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000) `
		fill(numbers+`INSERT INTO repos (owner_id, name, name_folded, description, private, default_branch,
			created_at, updated_at, pushed_at, stars, language)
			SELECT $1, 'garden-' || x, 'garden-' || x, 'bed ' || (x % 100) || ' of roses', x % 10 = 0, 'main',
			x, x, x, x % 1000,
			CASE WHEN x % 3 = 0 THEN 'Go' ELSE 'Rust' END FROM n`, alice.ID)
		fill(numbers + `INSERT INTO accounts (login, login_folded, kind, name, created_at, updated_at,
			followers)
			SELECT 'person-' || x, 'person-' || x, 1, 'Rose ' || (x % 100), x, x, x % 1000 FROM n`)
		service := search.New(s.DB, issue.New(s.DB, s.Repos, slog.New(slog.DiscardHandler), s.Forge),
			slog.New(slog.DiscardHandler))
		testkit.NoError(b, service.Index(context.Background()))
		fill(`ANALYZE`)
		n := 0
		for _, q := range []string{"repositories?q=garden-77777", "repositories?q=roses",
			"repositories?q=bed+77", "repositories?q=language:go&sort=stars", "repositories?q=stars:>990",
			"repositories?q=garden&sort=updated", "users?q=person-77777", "users?q=rose",
			"users?q=type:user&sort=followers"} {
			for _, as := range []string{"", "alice"} {
				b.Run(engine.String()+"/"+q+"/"+as, func(b *testing.B) {
					for range b.N {
						n++
						s.Check(b, apitest.Case{Do: "GET /search/" + q + "&n=" +
							url.QueryEscape(fmt.Sprint(n)), As: as, Status: 200})
					}
				})
			}
		}
	}
}

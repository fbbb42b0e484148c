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
	"arbor/internal/test/issuetest"
	"arbor/internal/test/testkit"
)

// index brings the index of searches up to date.
func index(b *testing.B, s *apitest.Server) {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	service := search.New(s.DB, issue.New(s.DB, s.Repos, log, s.Forge), log)
	testkit.NoError(b, service.Index(b.Context()))
}

// BenchmarkSearch is a page that no cache has seen, of a store with 100,000
// issues in one repository and 60,000 in others, over HTTP.
func BenchmarkSearch(b *testing.B) {
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		s := apitest.Start(b, engine)
		t, err := issuetest.Fill(context.Background(), s.DB,
			issuetest.Options{Repos: []int{100_000, 40_000, 15_000, 5_000}})
		testkit.NoError(b, err)
		index(b, s)
		if engine == db.PostgreSQL {
			dbtest.Exec(b, s.DB, `ANALYZE`)
		}
		large, small := "repo:works/"+t.Repos[0].Name, "repo:works/"+t.Repos[3].Name
		n := 0
		for _, q := range []string{
			large + " is:open", large + " is:open sort:updated", large + ` label:bug sort:comments`,
			large + " is:issue author:" + t.People[1].Login,
			"is:open", "label:bug is:open", small + " crashes", small + " crashes parser", large + " crashes",
			large + " crashes is:open label:bug", "crashes", "crashes -parser is:open", `"parser crashes"`,
		} {
			b.Run(engine.String()+"/"+q, func(b *testing.B) {
				var total int
				for range b.N {
					n++
					var got struct {
						Total int `json:"total_count"`
					}
					s.Check(b, apitest.Case{Do: fmt.Sprintf("GET /search/issues?q=%s&n=%d",
						url.QueryEscape(q), n), Status: 200}).JSON(b, &got)
					total = got.Total
				}
				b.ReportMetric(float64(total), "found")
			})
		}
	}
}

// BenchmarkSearchNames is a page that no cache has seen, of a store with 100,000 repositories, a tenth
// of them private, and as many accounts, over HTTP.
func BenchmarkSearchNames(b *testing.B) {
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		s := apitest.Start(b, engine)
		alice := s.User(b, "alice")
		const numbers = `WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 100000) `
		dbtest.Exec(b, s.DB, numbers+`INSERT INTO repos (owner_id, name, name_folded, description, private, default_branch,
			created_at, updated_at, pushed_at, stars, language)
			SELECT $1, 'garden-' || x, 'garden-' || x, 'bed ' || (x % 100) || ' of roses', x % 10 = 0, 'main',
			x, x, x, x % 1000,
			CASE WHEN x % 3 = 0 THEN 'Go' ELSE 'Rust' END FROM n`, alice.ID)
		dbtest.Exec(b, s.DB, numbers+`INSERT INTO accounts (login, login_folded, kind, name, created_at, updated_at,
			followers)
			SELECT 'person-' || x, 'person-' || x, 1, 'Rose ' || (x % 100), x, x, x % 1000 FROM n`)
		index(b, s)
		dbtest.Exec(b, s.DB, `ANALYZE`)
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

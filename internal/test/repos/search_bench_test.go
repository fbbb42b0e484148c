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

// BenchmarkSearch is a page that no cache has seen, of a store with 100,000
// issues in one repository and 60,000 in others, over HTTP.
func BenchmarkSearch(b *testing.B) {
	for _, engine := range []db.Engine{db.SQLite, db.PostgreSQL} {
		s := apitest.Start(b, engine)
		t, err := issuetest.Fill(context.Background(), s.DB,
			issuetest.Options{Repos: []int{100_000, 40_000, 15_000, 5_000}})
		testkit.NoError(b, err)
		service := search.New(s.DB, issue.New(s.DB, s.Repos, slog.New(slog.DiscardHandler), s.Forge),
			slog.New(slog.DiscardHandler))
		testkit.NoError(b, service.Index(context.Background()))
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

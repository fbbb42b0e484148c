package graphql_test

import (
	"fmt"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/dbtest"
)

// A query needs as many statements for twenty repositories as for two, whatever it asks for below each.
func TestStatementsDoNotGrowWithRepositories(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		w := newWorld(t, engine)
		w.join(t)
		for n := range gardens {
			w.plant(t, n)
		}
		bot := w.Bot(t, "gardener", "alice", "checks=write,statuses=write,contents=read")
		for n := range gardens {
			at := fmt.Sprintf("/repos/alice/g%d", n)
			for _, name := range []string{"main", "bed"} {
				w.check(t, at, member(t, w.Server, "alice", at+"/commits/"+name, "sha"), bot.Slug+"[bot]")
			}
		}
		for _, p := range below(w.schema, "Repository") {
			fields := p.fields(w.schema)
			t.Run(p.kind, func(t *testing.T) {
				if w.grows(t, p.query(fields)); !t.Failed() {
					return
				}
				for _, f := range fields { // which one is it?
					w.grows(t, p.query([]string{f}))
				}
			})
		}
	})
}

package graphql_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/graphql"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// What a list of issues is asked for is all that its fields read: nothing is asked for besides, and the
// answer is that of the whole payload.
func TestMembersOfIssues(t *testing.T) {
	t.Parallel()
	var statements atomic.Int64
	s := apitest.Start(t, db.SQLite, func(o *server.Options) {
		o.DB = dbtest.OpenWith(t, db.Options{URL: dbtest.URL(t, db.SQLite),
			Trace: func(ctx context.Context, _ string) {
				if account.CallerFrom(ctx) != nil {
					statements.Add(1)
				}
			}})
	})
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/milestones", As: "alice", Status: 201,
		Send: `{"title": "Spring"}`})
	for n := range 3 {
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"title": "Peas", "body": "Grow *%d*", "labels": ["bug"], "assignees": ["alice"], "milestone": 1}`,
				n)})
	}
	s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden/issues/2", As: "alice", Status: 200,
		Send: `{"state": "closed", "state_reason": "not_planned"}`})
	selections := map[string]string{
		"author":    "author{login url}",
		"labels":    "labels(first:5){totalCount nodes{id name color description}}",
		"assignees": "assignees(first:5){totalCount nodes{login}}", "milestone": "milestone{title number}",
		"repository": "repository{nameWithOwner}",
	}
	turn := 0
	ask := func(fields string) (answer string, cost int64) {
		turn++ // nothing that was kept before counts any more
		for n := range 3 {
			s.Check(t, apitest.Case{Do: fmt.Sprintf("PATCH /repos/alice/garden/issues/%d", n+1),
				As: "alice", Status: 200,
				Send: fmt.Sprintf(`{"title": "Peas %d"}`, turn)})
		}
		if err := s.Server.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		statements.Store(0)
		answer = run(t, s, "alice", `{repository(owner:"alice",name:"garden"){issues(first:3){`+fields+`}}}`,
			nil)
		return answer, statements.Load()
	}
	var most int64
	for range 3 {
		_, cost := ask("nodes{number}")
		most = max(most, cost)
	}
	for name := range graphql.IssueMembers {
		field := name
		if selections[name] != "" {
			field = selections[name]
		}
		for _, form := range []string{"nodes{FIELD}", "edges{node{...on Issue{FIELD}}}"} {
			query := strings.Replace(form, "FIELD", field, 1)
			_, cost := ask(query)
			for n := 0; n < 3 && cost > most; n++ {
				_, cost = ask(query)
			}
			if cost > most {
				t.Errorf("%s takes %d statements, a number %d", query, cost, most)
			}
			// Comments are none of the fields that lists are made for.
			got, _ := ask(query)
			turn-- // the same titles again
			whole, _ := ask(strings.Replace(form, "FIELD", field+" x:comments{totalCount}", 1))
			if whole = strings.ReplaceAll(whole, `,"x":{"totalCount":0}`, ""); got != whole ||
				strings.Contains(got, "errors") {
				t.Errorf("%s is\n%s, by whole payloads\n%s", query, got, whole)
			}
		}
	}
}

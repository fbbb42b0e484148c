package graphql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account"
	"arbor/internal/db"
	"arbor/internal/graphql"
	"arbor/internal/graphql/schema"
	"arbor/internal/test/apitest"
	"arbor/internal/test/dbtest"
)

// A query needs as many statements for twelve people, organizations or teams as for two, whatever it asks for below
// each.
func TestStatementsDoNotGrowWithPeople(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, engine db.Engine) {
		w := newWorld(t, engine)
		w.settle(t)
		for kind, query := range map[string]string{
			"User":         `viewer{following(first:$n){nodes{%s}}}`,
			"Organization": `viewer{organizations(first:$n){nodes{%s}}}`,
			"Team":         `organization(login:"org0"){teams(first:$n){nodes{%s}}}`,
		} {
			p := way{kind: kind, def: w.schema.Types[kind], steps: []string{query}}
			fields := slices.DeleteFunc(p.fields(w.schema), func(f string) bool {
				name, _, _ := strings.Cut(strings.TrimRight(f, "{"), "(")
				name, _, _ = strings.Cut(name, "{")
				return graphql.Lacks(kind, name)
			})
			ask := func(fields []string) func(n int) string {
				return w.answers(t, fmt.Sprintf("query($n:Int!){"+query+"}", "met:__typename "+strings.Join(fields, " ")))
			}
			t.Run(kind, func(t *testing.T) {
				body := ask(nil)(people)
				if met := strings.Count(body, `"met":"`+kind+`"`); met < people {
					t.Fatalf("only %d are met: %s", met, body)
				}
				if least, most := w.count(ask(fields), people, spare); most <= least+spare {
					return
				}
				for _, f := range fields {
					if least, most := w.count(ask([]string{f}), people, spare); most > least+spare {
						t.Errorf("%s: %d statements for 2, %d for %d", f, least, most, people)
					}
				}
			})
		}
		t.Run("rulesets of organizations by their ids", func(t *testing.T) {
			var ids []any
			for n := range people {
				body := run(t, w.Server, "alice", fmt.Sprintf(`{organization(login:"org%d"){rulesets(first:1){nodes{id}}}}`, n), nil)
				_, id, _ := strings.Cut(body, `"id":"`)
				id, _, _ = strings.Cut(id, `"`)
				ids = append(ids, id)
			}
			least, most := w.count(func(n int) string {
				body := w.ask(t, `query($ids:[ID!]!){nodes(ids:$ids){...on RepositoryRuleset{name}}}`,
					map[string]any{"ids": ids[:n]})
				if strings.Count(body, `"name"`) != n {
					t.Fatal(body)
				}
				return body
			}, people, spare)
			if most > least+spare {
				t.Errorf("%d statements for 2, %d for %d", least, most, people)
			}
		})
	})
}

const (
	people = 12 // accounts and teams of each kind
	spare  = 4  // statements that later ones may need besides, of 10
)

// settle makes people whom alice follows, her organizations, and teams of the first of these.
func (w *world) settle(t *testing.T) {
	t.Helper()
	w.schema = schema.Load()
	r := w.Repo(t, "alice/g0", false)
	w.requests(t, apitest.Case{Do: "PUT /repos/alice/g0/contents/a", Send: `{"message": "A", "content": "YQ=="}`, Status: 201})
	sha := member(t, w.Server, "alice", "/repos/alice/g0/commits/main", "sha")
	for n := range people {
		login, org := fmt.Sprintf("friend%d", n), fmt.Sprintf("org%d", n)
		w.User(t, login)
		w.Org(t, org, "alice")
		w.Grant(t, r, login, account.Push)
		w.Repo(t, login+"/one", false)
		w.Repo(t, login+"/two", n%2 == 1)
		w.Repo(t, org+"/one", n%2 == 1)
		w.requests(t,
			apitest.Case{Do: "PUT /user/following/" + login, Status: 204},
			apitest.Case{Do: "PUT /orgs/" + org + "/memberships/" + login, Send: `{"role": "member"}`, Status: 200},
			apitest.Case{Do: "PATCH /user/memberships/orgs/" + org, As: login, Send: `{"state": "active"}`, Status: 200},
			apitest.Case{Do: "PUT /orgs/" + org + "/public_members/" + login, As: login, Status: 204},
			apitest.Case{Do: "POST /orgs/" + org + "/rulesets", Status: 201, Send: `{"name": "all", "enforcement": "active",
				"rules": [{"type": "deletion"}], "conditions": {"repository_name": {"include": ["~ALL"], "exclude": []},
				"ref_name": {"include": ["~ALL"], "exclude": []}}}`},
			apitest.Case{Do: "POST /orgs/org0/teams", Send: fmt.Sprintf(`{"name": "team%d"}`, n), Status: 201},
			apitest.Case{Do: "POST /repos/alice/g0/issues", As: login, Send: `{"title": "Peas"}`, Status: 201},
			apitest.Case{Do: "POST /repos/alice/g0/commits/main/comments", As: login, Send: `{"body": "Fine"}`, Status: 201},
			apitest.Case{Do: "POST /repos/alice/g0/git/refs", Send: `{"ref": "refs/heads/` + login + `", "sha": "` + sha + `"}`,
				Status: 201},
			apitest.Case{Do: "PUT /repos/alice/g0/contents/b", Send: `{"message": "B", "content": "Yg==", "branch": "` + login +
				`"}`, Status: 201},
			apitest.Case{Do: "POST /repos/alice/g0/pulls", As: login, Send: `{"title": "Beans", "head": "` + login +
				`", "base": "main"}`, Status: 201},
			apitest.Case{Do: "PUT /user/starred/alice/g0", As: login, Status: 204},
			apitest.Case{Do: "PUT /user/starred/" + login + "/two", As: login, Status: 204},
			apitest.Case{Do: "PUT /repos/alice/g0/subscription", Send: `{"subscribed": true}`, As: login, Status: 200})
	}
	if err := w.Server.Server.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

package graphql_test

import (
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// Answers about the schema are kept by all that a request asks for, its variables included.
func TestIntrospectionIsKept(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		const query = `query A($n:String!){__type(name:$n){name}} query B($n:String!){__type(name:$n){kind}}`
		for range 2 {
			for _, as := range []string{"alice", "bob"} {
				for _, name := range []string{"Issue", "User", "Nothing"} {
					want := `{"data":{"__type":{"name":"` + name + `"}}}`
					if name == "Nothing" {
						want = `{"data":{"__type":null}}`
					}
					c := apitest.Case{Do: "POST /graphql", As: as, Status: 200, Send: `{"operationName": "A", "query": "` + query +
						`", "variables": {"n": "` + name + `"}}`}
					if got := string(s.Check(t, c).Body); strings.TrimSpace(got) != want {
						t.Errorf("%s: %s", name, got)
					}
				}
			}
		}
		s.Check(t, apitest.Case{Do: "POST /graphql", As: "alice", Status: 200, Want: `{"data": {"__type": {"kind": "OBJECT"}}}`,
			Send: `{"operationName": "B", "query": "` + query + `", "variables": {"n": "Issue"}}`})
		s.Check(t, apitest.Case{Do: "POST /graphql", Status: 401, Send: `{"query": "{__schema{types{name}}}"}`})
	})
}

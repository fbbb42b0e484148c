package graphql_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/admission"
	"arbor/internal/db"
	"arbor/internal/server"
	"arbor/internal/test/apitest"
)

// ask is one operation and what its answer contains.
type ask struct {
	as, query string // empty: alice
	variables map[string]any
	want      string
}

func (a ask) check(t *testing.T, s *apitest.Server) string {
	t.Helper()
	if a.as == "" {
		a.as = "alice"
	}
	body := run(t, s, a.as, a.query, a.variables)
	if err := apitest.Contains([]byte(body), strings.ReplaceAll(a.want, "{base}", s.URL)); err != nil {
		t.Errorf("%s\n%s\n%v", a.query, body, err)
	}
	return body
}

// Clients match these words, and read what type and path say.
func TestErrorsAreAsAtGitHub(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Org(t, "guild", "alice")
		s.Repo(t, "alice/garden", false)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/garden", As: "alice", Send: `{"has_issues": false}`,
			Status: 200})
		for _, a := range []ask{
			{query: `{repository(owner:"alice",name:"x"){id}}`,
				want: `{"data": {"repository": null}, "errors": [{"type": "NOT_FOUND",
				"path": ["repository"], "locations": [{"line": 1, "column": 2}],
				"message": "Could not resolve to a Repository with the name 'alice/x'."}]}`},
			{query: `{a:repository(owner:"alice",name:"garden"){name issue:issueOrPullRequest(number:9){__typename}
				hasIssuesEnabled}}`,
				want: `{"data": {"a": {"name": "garden", "issue": null, "hasIssuesEnabled": false}},
					"errors": [{"type": "NOT_FOUND",
				"path": ["a", "issue"], "message": "Could not resolve to an issue or pull request with the number of 9."}]}`},
			{query: `{repository(owner:"alice",name:"garden"){issue(number:1){id} pullRequest(number:2){id}
				issues(first:3){totalCount}}}`,
				want: `{"data": {"repository": {"issue": null, "pullRequest": null, "issues": {"totalCount": 0}}}, "errors": [
				{"message": "Could not resolve to an Issue with the number of 1."},
				{"message": "Could not resolve to a PullRequest with the number of 2."}]}`},
			{query: `{user(login:"nobody"){id} organization(login:"alice"){id} o:organization(login:"guild"){login}
				u:user(login:"guild"){id}
				repositoryOwner(login:"nobody"){id}}`,
				want: `{"data": {"user": null, "organization": null, "o": {"login": "guild"}, "u": null,
					"repositoryOwner": null}, "errors": [
				{"message": "Could not resolve to a User with the login of 'nobody'."},
				{"message": "Could not resolve to an Organization with the login of 'alice'."},
				{"message": "Could not resolve to a User with the login of 'guild'."}]}`},
			{query: `query Q{repository(owner:"a",name:"b"){nonsense}}`,
				want: `{"errors": [{"path": ["query Q", "repository", "nonsense"],
				"extensions": {"code": "undefinedField", "typeName": "Repository", "fieldName": "nonsense"},
				"message": "Field 'nonsense' doesn't exist on type 'Repository'"}]}`},
			{query: `{viewer{login(x:1)}}`,
				want: `{"errors": [{"message": "Field 'login' doesn't accept argument 'x'"}]}`},
			{query: `{viewer{repositories{nodes{id}}}}`,
				want: `{"errors": [{"type": "MISSING_PAGINATION_BOUNDARIES", "path": ["viewer", "repositories"],
				"message": "You must provide a ` + "`first` or `last`" + ` value to properly paginate the ` +
					"`repositories`" + ` connection."}]}`},
			{query: `{viewer{repositories(first:101){nodes{id}}}}`,
				want: `{"errors": [{"type": "EXCESSIVE_PAGINATION"}]}`},
			{query: `{viewer{repositories(first:100){nodes{issues(first:100){nodes{comments(first:100){nodes{id}}}}}}}}`,
				want: `{"errors": [{"type": "MAX_NODE_LIMIT_EXCEEDED"}]}`},
			{query: `{viewer{repositories(last:101){totalCount}}}`,
				want: `{"errors": [{"type": "EXCESSIVE_PAGINATION", "path": ["viewer", "repositories"]}]}`},
			{query: `{repository(owner:"alice",name:"garden"){issues(first:-5){pageInfo{endCursor}}}}`,
				want: `{"errors": [{"path": ["repository", "issues"],
				"message": "` + "`first` on the `issues`" + ` connection cannot be less than zero."}]}`},
			{query: `query($n:Int){repository(owner:"alice",name:"garden"){object(expression:"main"){
				... on Commit{parents(last:$n){__typename}}}}}`, variables: map[string]any{"n": -1},
				want: `{"errors": [{"path": ["repository", "object", "parents"],
				"message": "` + "`last` on the `parents`" + ` connection cannot be less than zero."}]}`},
			{query: `{repository(owner:"alice",name:"garden"){releases(first:1,last:-1){totalCount}}}`,
				want: `{"errors": [{"message": "` + "`last` on the `releases`" +
					` connection cannot be less than zero."}]}`},
			{query: `{repository(owner:"alice",name:"garden"){labels{...p}}} fragment p on LabelConnection{pageInfo{endCursor}}`,
				want: `{"errors": [{"type": "MISSING_PAGINATION_BOUNDARIES"}]}`},
			{query: `{viewer{repositories(first:100){nodes{issues(first:100){nodes{comments(first:100){pageInfo{endCursor}}}}}}}}`,
				want: `{"errors": [{"type": "MAX_NODE_LIMIT_EXCEEDED"}]}`},
			{query: `{repository(owner:"alice",name:"garden"){labels{totalCount} issues(first:0){totalCount pageInfo{hasNextPage}}}}`,
				want: `{"data": {"repository": {"issues": {"totalCount": 0, "pageInfo": {"hasNextPage": false}}}}}`},
			{query: `{viewer{repositories(first:1,after:"x"){nodes{id}}}}`,
				want: `{"errors": [{"type": "INVALID_CURSOR_ARGUMENTS"}]}`},
			{query: `{`, want: `{"errors": [{}]}`},
			{query: `query($n:Int!){repository(owner:"a",name:"b"){issue(number:$n){id}}}`,
				variables: map[string]any{"n": "one"}, want: `{"errors": [{}]}`},
			{query: `query A{viewer{login}} query B{viewer{id}}`,
				want: `{"errors": [{"message": "An operation name is required"}]}`},
			{query: `{viewer{a:login a:id}}`, want: `{"errors": [{"path": ["viewer", "a"],
				"extensions": {"code": "fieldConflict"}}]}`},
			{query: `{node(id:"nonsense"){id}}`,
				want: `{"data": {"node": null}, "errors": [{"type": "NOT_FOUND",
				"message": "Could not resolve to a node with the global id of 'nonsense'."}]}`},
			{query: `fragment F on User{...G} fragment G on User{...F} {viewer{...F}}`,
				want: `{"errors": [{"extensions": {"code": "infiniteLoop"}}]}`},
			// What gh asks, and is not quite GraphQL.
			{query: `{viewer{login ...on Bot{id} ...on Organization{login}}}`,
				want: `{"data": {"viewer": {"login": "alice"}}}`},
			{query: `query($unused:[IssueState!]=OPEN){repository(owner:"alice",name:"garden"){issues(states:$unused){
				totalCount}}}`,
				variables: map[string]any{"perPage": 3},
				want:      `{"data": {"repository": {"issues": {"totalCount": 0}}}}`},
			{query: `{none:__type(name:"Nothing"){name} t:__type(name:"PullRequest"){name kind}}`,
				want: `{"data": {"none": null, "t": {"name": "PullRequest", "kind": "OBJECT"}}}`},
			{query: `{repository(owner:"alice",name:"garden"){ref(qualifiedName:""){id} label(name:"nope"){id}
				milestone(number:3){id} release(tagName:"v"){id}
				defaultBranchRef{name} latestRelease{name}}}`,
				want: `{"data": {"repository": {"ref": null, "label": null, "milestone": null, "release": null,
				"defaultBranchRef": null, "latestRelease": null}}}`},
		} {
			a.check(t, s)
		}
	})
}

// Somebody hostile is refused before there is work.
func TestHostileQueriesAreBounded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite)
	s.User(t, "alice")
	post := func(body string, status int) string {
		t.Helper()
		return string(s.Check(t, apitest.Case{Do: "POST /graphql", As: "alice", Send: body,
			Status: status}).Body)
	}
	quote := func(query string) string {
		b, _ := json.Marshal(map[string]string{"query": query})
		return string(b)
	}
	post(quote("{viewer{login}}"+strings.Repeat(" ", 5<<20)), 413)
	for name, query := range map[string]string{
		"aliases": "{" + strings.Repeat("a:viewer{login} ", 1) + manyAliases(10_001) + "}",
		"depth": strings.Repeat("{viewer", 1) + strings.Repeat("{organizations(first:1){nodes",
			40) + "{id}" + strings.Repeat("}}", 40) + "}",
		"introspection": "{__schema{types" + strings.Repeat("{fields{type",
			40) + "{name}" + strings.Repeat("}}", 40) + "}}",
		"fragments": doubling(30),
		"tokens":    "{viewer{login " + strings.Repeat("login ", 70_000) + "}}",
	} {
		if body := post(quote(query), 200); !strings.Contains(body, `"errors"`) ||
			strings.Contains(body, `"data"`) {
			t.Errorf("%s: %.300s", name, body)
		}
	}
	for _, body := range []string{``, `[]`, `{`, `{}`, `{"query": 7}`,
		`{"query": "{viewer{login}}", "variables": []}`} {
		if a := s.Do(t, apitest.Case{Do: "POST /graphql", As: "alice", Send: body}); a.Status < 400 ||
			a.Status > 422 {
			t.Errorf("%s: %d %s", body, a.Status, a.Body)
		}
	}
}

// A query may ask for as many nodes as GitHub's, and not take the server's memory.
func TestMemoryOfAQueryIsCounted(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.Admission = admission.New(256<<20, nil) })
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	for n := range 30 {
		s.Check(t, apitest.Case{Do: fmt.Sprintf("PUT /repos/alice/garden/contents/a%d", n), As: "alice",
			Send: `{"message": "A", "content": "YQ=="}`, Status: 201})
	}
	for name, inner := range map[string]string{
		"nodes": `history(first:100){nodes{history(first:100){nodes{history(first:40){nodes{oid message ` +
			strings.ReplaceAll(manyAliases(10), "viewer{login}", "tree{oid}") + `}}}}}}`,
		"fields": `history(first:100){nodes{` + strings.ReplaceAll(manyAliases(9_000), ":viewer{login}",
			":message") + `}}`,
	} {
		query, err := json.Marshal(map[string]string{"query": `{repository(owner:"alice",name:"garden"){
			object(expression:"main"){...on Commit{` + inner + `}}}}`})
		if err != nil {
			t.Fatal(err)
		}
		a := s.Do(t, apitest.Case{Do: "POST /graphql", As: "alice", Send: string(query)})
		if a.Status != 429 || s.Admitted.Usage()[admission.Work].Held != 0 {
			t.Errorf("%s: %d %.300s, then %+v is held", name, a.Status, a.Body, s.Admitted.Usage())
		}
	}
	// A text is loaded once, and counts wherever the answer has it.
	long := strings.Repeat("V", 1<<20)
	body := long[:60<<10]
	s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
		Send: `{"title": "Long", "body": "` + body + `"}`})
	s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/long", As: "alice", Status: 201,
		Send: `{"message": "Long", "content": "` + long[:1<<20-4] + `"}`})
	for _, field := range []string{`issue(number:1){body}`, `issue(number:1){bodyHTML}`,
		`object(expression:"main:long"){...on Blob{text}}`} {
		query, err := json.Marshal(map[string]string{"query": `{repository(owner:"alice",name:"garden"){` +
			strings.ReplaceAll(manyAliases(1000), "viewer{login}", field) + `}}`})
		if err != nil {
			t.Fatal(err)
		}
		a := s.Do(t, apitest.Case{Do: "POST /graphql", As: "alice", Send: string(query)})
		if a.Status != 429 || s.Admitted.Usage()[admission.Work].Held != 0 {
			t.Errorf("%s: %d %.300s, then %+v is held", field, a.Status, a.Body, s.Admitted.Usage())
		}
	}
	// A variable is sent once, and counts wherever it is given.
	for _, field := range []string{"node(id:$x)", "user(login:$x)"} {
		query, err := json.Marshal(map[string]any{"variables": map[string]any{"x": long},
			"query": "query($x:" +
				map[bool]string{true: "ID!", false: "String!"}[field[0] == 'n'] + "){" +
				strings.ReplaceAll(manyAliases(2000), "viewer{login}", field+"{id}") + "}"})
		if err != nil {
			t.Fatal(err)
		}
		if a := s.Do(t, apitest.Case{Do: "POST /graphql", As: "alice",
			Send: string(query)}); a.Status != 429 {
			t.Errorf("%s: %d %.300s", field, a.Status, a.Body)
		}
	}
	ask{query: `{viewer{login}}`, want: `{"data": {"viewer": {"login": "alice"}}}`}.check(t, s)
}

func manyAliases(n int) string {
	var b strings.Builder
	for k := range n {
		fmt.Fprintf(&b, "v%d:viewer{login} ", k)
	}
	return b.String()
}

// doubling is a query whose fragments are spread twice as often on each level.
func doubling(levels int) string {
	b := "{viewer{...F0}} fragment F" + fmt.Sprint(levels) + " on User{login} "
	for k := range levels {
		b += fmt.Sprintf("fragment F%d on User{a:organizations(first:1){totalCount} ...F%d ...F%d} ", k, k+1,
			k+1)
	}
	return b
}

// What is asked for in one request takes off the limit what it would by REST, and rateLimit tells it.
func TestCosts(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, db.SQLite, func(o *server.Options) { o.RateLimit = 50 })
	s.User(t, "alice")
	s.Repo(t, "alice/garden", false)
	ask{query: `{rateLimit{limit cost remaining used nodeCount} viewer{repositories(first:10){
		nodes{issues(first:20){totalCount nodes{id}}}}}}`,
		want: `{"data": {"rateLimit": {"limit": 50, "cost": 1, "remaining": 49, "used": 1, "nodeCount": 210}}}`}.check(t, s)
	ask{query: `{rateLimit{cost remaining} viewer{repositories(first:100){nodes{i:issues(first:1){nodes{id}}
		p:pullRequests(first:1){nodes{id}}}}}}`,
		want: `{"data": {"rateLimit": {"cost": 2, "remaining": 47}}}`}.check(t, s)
	id := member(t, s, "alice", "/repos/alice/garden", "node_id")
	star := `mutation{` + strings.Repeat(`a%d:addStar(input:{starrableId:"`+id+`"}){clientMutationId} `,
		20) + `}`
	numbers := make([]any, 20)
	for n := range numbers {
		numbers[n] = n
	}
	run(t, s, "alice", fmt.Sprintf(star, numbers...), nil)
	ask{query: `{rateLimit{remaining}}`, want: `{"data": {"rateLimit": {"remaining": 25}}}`}.check(t, s)
	run(t, s, "alice", fmt.Sprintf(star, numbers...), nil)
	send, err := json.Marshal(map[string]string{"query": fmt.Sprintf(star, numbers...)})
	if err != nil {
		t.Fatal(err)
	}
	s.Check(t, apitest.Case{Do: "POST /graphql", As: "alice", Send: string(send), Status: 403,
		Want: `{"message": "API rate limit exceeded"}`})
}

package graphql_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/account/token"
	"arbor/internal/app"
	"arbor/internal/test/apitest"
)

// told is an answer as its parts are compared.
type told struct {
	Data   map[string]json.RawMessage
	Errors []struct {
		Path          []any
		Type, Message string
	}
}

func (w *world) told(t *testing.T, as, query string) (v told) {
	t.Helper()
	body := run(t, w.Server, as, query, nil)
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return v
}

// below are the errors under a place of the answer, which is cut off their paths.
func (v told) below(at ...any) (list []string) {
	for _, e := range v.Errors {
		if len(e.Path) >= len(at) && fmt.Sprint(e.Path[:len(at)]) == fmt.Sprint([]any(at)) {
			list = append(list, fmt.Sprint(e.Path[len(at):], " ", e.Type, " ", e.Message))
		}
	}
	slices.Sort(list)
	return list
}

// callers are people and programs who may see some of the repositories, and some of what is in them.
func (w *world) callers(t *testing.T) []string {
	t.Helper()
	w.User(t, "sam")
	callers := []string{"alice", "friend3", "sam"}
	add := func(name, value string) {
		w.SetToken(name, value)
		callers = append(callers, name)
	}
	value, _, err := w.Forge.Tokens.CreateToken(t.Context(), token.NewToken{Login: "alice",
		Repos: []int64{int64(w.Access(t, "alice", "alice/g1").ID),
			int64(w.Access(t, "alice", "alice/g3").ID)}})
	if err != nil {
		t.Fatal(err)
	}
	add("alice for two", value)
	value, _, err = w.Forge.Tokens.CreateToken(t.Context(), token.NewToken{Login: "alice"})
	if err != nil {
		t.Fatal(err)
	}
	add("alice without scopes", value)
	for _, may := range []string{"metadata=read", "issues=read", "pull_requests=read", "contents=read"} {
		name := "b-" + strings.NewReplacer("=", "-", "_", "-").Replace(may)
		w.Bot(t, name, "alice", may)
		callers = append(callers, name+"[bot]")
	}
	a := w.NewApp(t, "alice", app.Manifest{Name: "few", URL: "https://few.example.org", Public: true,
		Permissions: apitest.Permissions("metadata=read,issues=read,contents=read")})
	add("few", a.Token(t, a.Install(t, "alice", "g1", "g4").ID, ""))
	return callers
}

// What is asked for together is what each thing would be told by itself: nobody sees more, or less, beside
// others.
func (w *world) togetherAsAlone(t *testing.T) {
	ids := w.ids(t)
	for _, as := range w.callers(t) {
		w.nodesAsAlone(t, as, ids)
		w.listsAsAlone(t, as)
	}
	w.Admin(t, "warden")
	w.Check(t, apitest.Case{Do: "PUT /users/friend3/suspended", As: "warden", Status: 204})
	send, _ := json.Marshal(map[string]any{"query": `query($ids:[ID!]!){nodes(ids:$ids){id}}`,
		"variables": map[string]any{"ids": ids}})
	w.Check(t, apitest.Case{Do: "POST /graphql", As: "friend3", Send: string(send), Status: 403})
}

// ids are node ids of things of all kinds, in public repositories and in private ones.
func (w *world) ids(t *testing.T) (ids []string) {
	t.Helper()
	for _, p := range below(w.schema, "Repository") {
		if p.def.Fields.ForName("id") == nil {
			continue
		}
		body := run(t, w.Server, "alice", p.query([]string{"id"}), map[string]any{"n": 4})
		var found []string
		for part := range strings.SplitSeq(body, `"id":"`) {
			if id, _, _ := strings.Cut(part, `"`); !strings.HasPrefix(id, "{") && !slices.Contains(ids, id) {
				found = append(found, id)
			}
		}
		ids = append(ids, found[:min(6, len(found))]...)
	}
	return slices.Compact(slices.Sorted(slices.Values(ids)))
}

func (w *world) nodesAsAlone(t *testing.T, as string, ids []string) {
	t.Helper()
	const inner = `{__typename id ...on Issue{title body} ...on PullRequest{title headRefName}
		...on Repository{name isPrivate}
		...on IssueComment{body} ...on Commit{message} ...on Release{name} ...on CheckRun{name}
		...on PullRequestReview{body}}`
	for part := range slices.Chunk(ids, 50) {
		list, _ := json.Marshal(part)
		together := w.told(t, as, `{nodes(ids:`+string(list)+`)`+inner+`}`)
		var nodes []json.RawMessage
		if err := json.Unmarshal(together.Data["nodes"], &nodes); err != nil || len(nodes) != len(part) {
			t.Fatalf("%s: %d nodes, %v", as, len(nodes), err)
		}
		var query strings.Builder
		for n, id := range part {
			fmt.Fprintf(&query, "a%d:node(id:%q)%s ", n, id, inner)
		}
		alone := w.told(t, as, "{"+query.String()+"}")
		for n, node := range nodes {
			key := fmt.Sprintf("a%d", n)
			if string(node) != string(alone.Data[key]) || fmt.Sprint(together.below("nodes",
				n)) != fmt.Sprint(alone.below(key)) {
				t.Errorf("%s: together %s %v\nalone %s %v", as, node, together.below("nodes", n),
					alone.Data[key], alone.below(key))
			}
		}
	}
}

func (w *world) listsAsAlone(t *testing.T, as string) {
	t.Helper()
	top := below(w.schema, "Repository")[0]
	fields := strings.Join(top.fields(w.schema), " ") + ` issuesOf:issues(first:5){
		nodes{title comments(first:5){nodes{body author{login}}}
		timelineItems(first:20){nodes{__typename}} reactionGroups{viewerHasReacted users(first:2){nodes{login}}}}}
		pullsOf:pullRequests(first:5){nodes{title reviews(first:2){nodes{body comments(first:2){nodes{body}}}}
		headRef{name target{oid}} files(first:3){nodes{path}}
		statusCheckRollup{contexts(first:5){nodes{__typename}}} closingIssuesReferences(first:3){nodes{title}}}}`
	together := w.told(t, as, `{user(login:"alice"){repositories(first:20,ownerAffiliations:OWNER){nodes{`+
		fields+`}}}}`)
	var found struct {
		Repositories struct{ Nodes []json.RawMessage }
	}
	if err := json.Unmarshal(together.Data["user"], &found); err != nil {
		t.Fatal(err)
	}
	for n, node := range found.Repositories.Nodes {
		var named struct{ Name string }
		if err := json.Unmarshal(node, &named); err != nil || named.Name == "" {
			continue
		}
		alone := w.told(t, as, `{repository(owner:"alice",name:"`+named.Name+`"){`+fields+`}}`)
		both := [2][]string{together.below("user", "repositories", "nodes", n), alone.below("repository")}
		if string(node) != string(alone.Data["repository"]) || fmt.Sprint(both[0]) != fmt.Sprint(both[1]) {
			t.Errorf("%s in %s\ntogether %s\n%q\nalone    %s\n%q", as, named.Name, node, both[0],
				alone.Data["repository"], both[1])
		}
	}
}

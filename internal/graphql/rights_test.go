package graphql_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"arbor/internal/account/token"
	"arbor/internal/scope"
	"arbor/internal/test/apitest"
)

// run sends a request for GraphQL.
func run(t testing.TB, s *apitest.Server, as, query string, variables map[string]any) string {
	t.Helper()
	send, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	return string(s.Check(t, apitest.Case{Do: "POST /graphql", As: as, Send: string(send), Status: 200}).Body)
}

// member reads a member of what REST answers.
func member(t testing.TB, s *apitest.Server, as, address, name string) string {
	t.Helper()
	a := s.Check(t, apitest.Case{Do: "GET " + address, As: as, Status: 200})
	var v map[string]any
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(v[name])
}

// cellar creates a private repository of alice's, in which each text has the word SECRET.
func cellar(t *testing.T, s *apitest.Server) (ids map[string]string) {
	t.Helper()
	s.User(t, "alice")
	s.User(t, "bob")
	s.Repo(t, "alice/cellar", true)
	s.Repo(t, "alice/garden", false)
	for _, c := range []apitest.Case{
		{Do: "PATCH /repos/alice/cellar", Send: `{"description": "SECRET"}`, Status: 200},
		{Do: "PUT /repos/alice/cellar/contents/a",
			Send:   `{"message": "SECRET", "content": "YQ==", "branch": "main"}`,
			Status: 201},
		{Do: "POST /repos/alice/cellar/issues",
			Send:   `{"title": "SECRET", "body": "SECRET", "labels": ["SECRET"]}`,
			Status: 201},
		{Do: "POST /repos/alice/cellar/issues/1/comments", Send: `{"body": "SECRET"}`, Status: 201},
		{Do: "POST /repos/alice/cellar/milestones", Send: `{"title": "SECRET"}`, Status: 201},
		{Do: "PUT /repos/alice/cellar/contents/b",
			Send: `{"message": "SECRET", "content": "Yg==", "branch": "SECRET"}`, Status: 404},
		{Do: "POST /repos/alice/cellar/releases", Send: `{"tag_name": "v1", "name": "SECRET"}`, Status: 201},
	} {
		c.As = "alice"
		s.Check(t, c)
	}
	sha := member(t, s, "alice", "/repos/alice/cellar/commits/main", "sha")
	for _, c := range []apitest.Case{
		{Do: "POST /repos/alice/cellar/git/refs", Send: `{"ref": "refs/heads/SECRET", "sha": "` + sha + `"}`,
			Status: 201},
		{Do: "PUT /repos/alice/cellar/contents/b",
			Send: `{"message": "SECRET", "content": "Yg==", "branch": "SECRET"}`, Status: 201},
		{Do: "POST /repos/alice/cellar/pulls", Send: `{"title": "SECRET", "head": "SECRET", "base": "main"}`,
			Status: 201},
		{Do: "POST /repos/alice/cellar/pulls/2/reviews", Send: `{"body": "SECRET", "event": "COMMENT"}`,
			Status: 200},
		{Do: "POST /repos/alice/cellar/statuses/" + sha, Send: `{"state": "success", "context": "SECRET"}`,
			Status: 201},
	} {
		c.As = "alice"
		s.Check(t, c)
	}
	ids = map[string]string{"sha": sha,
		"head": member(t, s, "alice", "/repos/alice/cellar/commits/SECRET", "sha")}
	for name, address := range map[string]string{"repository": "", "issue": "/issues/1", "pull": "/pulls/2",
		"comment": "/issues/comments/1",
		"label":   "/labels/SECRET", "milestone": "/milestones/1", "commit": "/git/commits/" + sha,
		"ref": "/git/ref/heads/SECRET", "review": "/pulls/2/reviews/1"} {
		ids[name] = member(t, s, "alice", "/repos/alice/cellar"+address, "node_id")
	}
	return ids
}

// deed is one thing that can be read or done by REST and by GraphQL. Where the query gets the value x, it
// was.
type deed struct {
	rest, send string
	query      string // $ID is a node id; the rest of a repository's selection where it begins with a dot
	id         string
	through    string // another address: what leads to the thing by GraphQL
}

var reads = []deed{
	{rest: "GET ", query: `.x:description`},
	{rest: "GET ", query: `{node(id:"$ID"){...on Repository{x:description}}}`, id: "repository"},
	{rest: "GET /issues/1", query: `.issue(number:1){x:title}`},
	{rest: "GET /issues/1", query: `.issueOrPullRequest(number:1){...on Issue{x:body}}`},
	{rest: "GET /issues/1", query: `{node(id:"$ID"){...on Issue{x:title}}}`, id: "issue"},
	{rest: "GET /issues", query: `.issues(first:5){nodes{x:title}}`},
	{rest: "GET /issues/1/comments", query: `.issue(number:1){comments(first:5){nodes{x:body}}}`},
	{rest: "GET /issues/comments/1", query: `{node(id:"$ID"){...on IssueComment{x:body}}}`, id: "comment"},
	{rest: "GET /pulls/2", query: `.pullRequest(number:2){x:headRefName}`},
	{rest: "GET /pulls", query: `.pullRequests(first:5){nodes{x:headRefName}}`},
	{rest: "GET /pulls/2/reviews", through: "GET /pulls",
		query: `.pullRequests(first:5){nodes{reviews(first:5){nodes{x:body}}}}`},
	{rest: "GET /pulls/2/commits", through: "GET /pulls",
		query: `.pullRequests(first:5){nodes{commits(first:5){nodes{commit{x:message}}}}}`},
	{rest: "GET /labels", query: `.labels(first:50){nodes{x:name}}`},
	{rest: "GET /labels/SECRET", query: `{node(id:"$ID"){...on Label{x:name}}}`, id: "label"},
	{rest: "GET /milestones/1", query: `{node(id:"$ID"){...on Milestone{x:title}}}`, id: "milestone"},
	{rest: "GET /releases", query: `.releases(first:5){nodes{x:name}}`},
	{rest: "GET /git/ref/heads/SECRET", query: `.ref(qualifiedName:"SECRET"){x:name}`},
	{rest: "GET /git/ref/heads/SECRET", query: `{node(id:"$ID"){...on Ref{x:name}}}`, id: "ref"},
	{rest: "GET /git/refs", query: `.refs(first:5,refPrefix:"refs/heads/"){nodes{x:name}}`},
	{rest: "GET /git/commits/$SHA", query: `.object(oid:"$SHA"){...on Commit{x:message}}`},
	{rest: "GET /contents/a", query: `.object(expression:"main:a"){...on Blob{x:text}}`},
	{rest: "GET /commits",
		query: `.object(expression:"main"){...on Commit{history(first:2){nodes{x:message}}}}`},
	{rest: "GET /pulls/2", through: "GET /commits",
		query: `.object(expression:"SECRET"){...on Commit{associatedPullRequests(first:2){nodes{x:title}}}}`},
	{rest: "GET /releases", through: "GET /git/refs", query: `.releases(first:5){nodes{tag{x:name}}}`},
	{rest: "GET /pulls/2/reviews/1", query: `{node(id:"$ID"){...on PullRequestReview{x:body}}}`,
		id: "review"},
	{rest: "GET /git/commits/$SHA", query: `{node(id:"$ID"){...on Commit{x:message}}}`, id: "commit"},
	{rest: "GET /commits/$SHA/status", through: "GET /git/ref/heads/main",
		query: `.ref(qualifiedName:"main"){target{...on Commit{statusCheckRollup{contexts(first:5){
			nodes{...on StatusContext{x:context}}}}}}}`},
}

var writes = []deed{
	{rest: "PATCH /issues/1", send: `{"title": "SECRET"}`, id: "issue",
		query: `mutation{updateIssue(input:{id:"$ID",title:"SECRET"}){issue{x:title}}}`},
	{rest: "PATCH /issues/1", send: `{"state": "closed"}`, id: "issue",
		query: `mutation{closeIssue(input:{issueId:"$ID"}){issue{x:title}}}`},
	{rest: "POST /issues/1/comments", send: `{"body": "SECRET"}`, id: "issue",
		query: `mutation{addComment(input:{subjectId:"$ID",body:"SECRET"}){commentEdge{node{x:body}}}}`},
	{rest: "POST /issues", send: `{"title": "SECRET"}`, id: "repository",
		query: `mutation{createIssue(input:{repositoryId:"$ID",title:"SECRET"}){issue{x:title}}}`},
	{rest: "PUT /issues/1/lock", id: "issue",
		query: `mutation{lockLockable(input:{lockableId:"$ID"}){lockedRecord{...on Issue{x:title}}}}`},
	{rest: "PATCH /pulls/2", send: `{"title": "SECRET"}`, id: "pull",
		query: `mutation{updatePullRequest(input:{pullRequestId:"$ID",title:"SECRET"}){pullRequest{x:title}}}`},
	{rest: "PATCH /pulls/2", send: `{"title": "SECRET"}`, id: "pull",
		query: `mutation{convertPullRequestToDraft(input:{pullRequestId:"$ID"}){pullRequest{x:title}}}`},
	{rest: "PUT /issues/1/lock", id: "issue",
		query: `mutation{pinIssue(input:{issueId:"$ID"}){issue{x:title}}}`},
	{rest: "POST /pulls/2/reviews", send: `{"body": "SECRET", "event": "COMMENT"}`, id: "pull",
		query: `mutation{addPullRequestReview(input:{pullRequestId:"$ID",body:"SECRET",event:COMMENT}){
			pullRequestReview{x:body}}}`},
	{rest: "POST /labels", send: `{"name": "made by REST", "color": "ff0000"}`, id: "repository",
		query: `mutation{createLabel(input:{repositoryId:"$ID",name:"made by GraphQL",color:"ff0000"}){label{x:name}}}`},
	{rest: "PATCH /labels/SECRET", send: `{"description": "SECRET"}`, id: "label",
		query: `mutation{updateLabel(input:{id:"$ID",description:"SECRET"}){label{x:name}}}`},
	{rest: "PUT /topics", send: `{"names": ["secret"]}`, id: "repository",
		query: `mutation{updateTopics(input:{repositoryId:"$ID",topicNames:["secret"]}){repository{x:name}}}`},
	{rest: "POST /issues/1/reactions", send: `{"content": "heart"}`, id: "issue",
		query: `mutation{addReaction(input:{subjectId:"$ID",content:HEART}){reaction{x:content}}}`},
	{rest: "PATCH /git/refs/heads/SECRET", send: `{"sha": "$HEAD"}`, id: "ref",
		query: `mutation{updateRef(input:{refId:"$ID",oid:"$HEAD"}){ref{x:name}}}`},
	{rest: "PATCH ", send: `{"description": "SECRET"}`, id: "repository",
		query: `mutation{updateRepository(input:{repositoryId:"$ID",description:"SECRET"}){repository{x:description}}}`},
}

// got reports that a query got the value x.
var got = regexp.MustCompile(`"x":"`)

// same fails where GraphQL lets somebody read or do what REST does not, or the other way round.
func same(t *testing.T, s *apitest.Server, as string, d deed, ids map[string]string) {
	t.Helper()
	query := strings.NewReplacer("$ID", ids[d.id], "$SHA", ids["sha"], "$HEAD", ids["head"]).Replace(d.query)
	if inner, ok := strings.CutPrefix(query, "."); ok {
		query = `{repository(owner:"alice",name:"cellar"){` + inner + `}}`
	}
	method, path, _ := strings.Cut(d.rest, " ")
	path = strings.ReplaceAll(path, "$SHA", ids["sha"])
	rest := s.Do(t, apitest.Case{Do: method + " /repos/alice/cellar" + path, As: as,
		Send:    strings.ReplaceAll(d.send, "$HEAD", ids["head"]),
		Headers: map[string]string{"Accept": "application/vnd.github+json"}})
	send, _ := json.Marshal(map[string]string{"query": query})
	asked := s.Do(t, apitest.Case{Do: "POST /graphql", As: as, Send: string(send)})
	may := rest.Status < 300
	if d.through != "" {
		method, path, _ := strings.Cut(d.through, " ")
		may = may && s.Do(t, apitest.Case{Do: method + " /repos/alice/cellar" + path, As: as}).Status < 300
	}
	switch {
	case asked.Status != 200 && (asked.Status != rest.Status || rest.Status < 400):
		t.Errorf("%s as %s: %d by REST, %d by GraphQL: %s", query, as, rest.Status, asked.Status, asked.Body)
	case may != got.Match(asked.Body):
		t.Errorf("%s as %s: %d by REST, by GraphQL %s", query, as, rest.Status, asked.Body)
	case !may && strings.Contains(strings.ReplaceAll(string(asked.Body), `heads/SECRET`, ""), `"SECRET`):
		t.Errorf("%s as %s shows: %s", query, as, asked.Body)
	}
}

// With whatever token, somebody sees and does by GraphQL what REST lets the same token see and do, and
// nothing else.
func TestTokensReachAsFarAsByREST(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		callers := []string{"alice", "bob"}
		add := func(name string, n token.NewToken) {
			value, _, err := s.Forge.Tokens.CreateToken(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			s.SetToken(name, value)
			callers = append(callers, name)
		}
		for _, scopes := range []string{"", "repo", "public_repo", "repo:status", "read:org",
			"notifications"} {
			parsed, err := scope.Parse(scopes)
			if err != nil {
				t.Fatal(err)
			}
			add("alice with "+scopes, token.NewToken{Login: "alice", Scopes: parsed})
		}
		for name, changes := range map[string]bool{"alice/cellar": false, "alice/garden": true,
			"alice/Cellar": true} {
			a := s.Access(t, "alice", name)
			add(fmt.Sprint("alice for ", name, changes),
				token.NewToken{Login: "alice", Repos: []int64{int64(a.ID)},
					Changes: changes})
		}
		for _, may := range []string{"metadata=read", "issues=read", "issues=write", "pull_requests=read",
			"pull_requests=write",
			"contents=read", "statuses=read", "administration=write"} {
			s.Bot(t, "bot-"+strings.NewReplacer("=", "-", "_", "-").Replace(may), "alice", may)
			callers = append(callers, "bot-"+strings.NewReplacer("=", "-", "_", "-").Replace(may)+"[bot]")
		}
		for _, as := range callers {
			for _, d := range append(append([]deed{}, reads...), writes...) {
				same(t, s, as, d, ids)
			}
		}
	})
}

// What somebody may see and do changes by GraphQL at the same moment as by REST.
func TestRightsEndAtOnce(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		for _, step := range []apitest.Case{
			{Name: "a stranger"},
			{Name: "may read", Do: "PUT /repos/alice/cellar/collaborators/bob",
				Send: `{"permission": "pull"}`, Status: 204},
			{Name: "sorts issues", Do: "PUT /repos/alice/cellar/collaborators/bob",
				Send: `{"permission": "triage"}`, Status: 204},
			{Name: "may push", Do: "PUT /repos/alice/cellar/collaborators/bob",
				Send: `{"permission": "push"}`, Status: 204},
			{Name: "maintains", Do: "PUT /repos/alice/cellar/collaborators/bob",
				Send: `{"permission": "maintain"}`, Status: 204},
			{Name: "administers", Do: "PUT /repos/alice/cellar/collaborators/bob",
				Send:   `{"permission": "admin"}`,
				Status: 204},
			{Name: "has no part", Do: "DELETE /repos/alice/cellar/collaborators/bob", Status: 204},
			{Name: "it is public", Do: "PATCH /repos/alice/cellar", Send: `{"private": false}`, Status: 200},
			{Name: "it is archived", Do: "PATCH /repos/alice/cellar", Send: `{"archived": true}`,
				Status: 200},
			{Name: "it is private", Do: "PATCH /repos/alice/cellar",
				Send:   `{"private": true, "archived": false}`,
				Status: 200},
			{Name: "without issues", Do: "PATCH /repos/alice/cellar", Send: `{"has_issues": false}`,
				Status: 200},
			{Name: "it is gone", Do: "DELETE /repos/alice/cellar", Status: 204},
		} {
			if step.Do != "" {
				step.As = "alice"
				s.Check(t, step)
			}
			for _, as := range []string{"bob", "alice"} {
				for _, d := range append(append([]deed{}, reads...), writes...) {
					if step.Name == "without issues" && strings.HasPrefix(d.query, ".issues") {
						continue // an empty list, as at GitHub, where REST says 410
					}
					same(t, s, as, d, ids)
				}
			}
		}
	})
}

// A suspended account, one whose token was revoked, and nobody get nothing at all.
func TestNobodyIsAnswered(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Admin(t, "warden")
		s.User(t, "bob")
		ask := apitest.Case{Do: "POST /api/graphql", As: "bob",
			Send: `{"query": "{viewer{login}}"}`, Status: 200}
		s.Check(t, ask)
		s.Check(t, apitest.Case{Do: "PUT /users/bob/suspended", As: "warden", Status: 204})
		ask.Status, ask.Want = 403, `{"message": "Sorry. Your account was suspended."}`
		s.Check(t, ask)
		s.Check(t, apitest.Case{Do: "DELETE /users/bob/suspended", As: "warden", Status: 204})
		if err := s.Forge.Tokens.RevokeToken(t.Context(), s.Token(t, "bob")); err != nil {
			t.Fatal(err)
		}
		ask.Status, ask.Want = 401, `{"message": "Bad credentials"}`
		s.Check(t, ask)
		ask.As, ask.Want = "", `{"message": "Requires authentication"}`
		s.Check(t, ask)
	})
}

// Hidden things and absent ones get the same error.
func TestInvisibleIsAbsent(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		ids := cellar(t, s)
		hidden := run(t, s, "bob", `{repository(owner:"alice",name:"cellar"){id}}`, nil)
		absent := run(t, s, "bob", `{repository(owner:"alice",name:"nowher"){id}}`, nil)
		if strings.ReplaceAll(absent, "nowher", "cellar") != hidden {
			t.Errorf("hidden: %s\nabsent: %s", hidden, absent)
		}
		for _, kind := range []string{"issue", "pull", "comment", "label", "milestone", "repository"} {
			query := `query($id:ID!){node(id:$id){id}}`
			hidden := run(t, s, "bob", query, map[string]any{"id": ids[kind]})
			if want := "Could not resolve to a node with the global id of '" + ids[kind] +
				"'."; !strings.Contains(hidden, want) {
				t.Errorf("%s: %s", kind, hidden)
			}
		}
	})
}

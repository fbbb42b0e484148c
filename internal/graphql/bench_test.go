package graphql_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
)

// ghIssueList is what gh issue list asks for.
const ghIssueList = `fragment issue on Issue {number,title,url,state,updatedAt,labels(first:100){
	nodes{id,name,description,color},totalCount}}
	query IssueList($owner:String!,$repo:String!,$limit:Int,$endCursor:String,$states:[IssueState!]=OPEN){
	repository(owner:$owner,name:$repo){
	hasIssuesEnabled issues(first:$limit,after:$endCursor,orderBy:{field:CREATED_AT,direction:DESC},states:$states){
	totalCount nodes{...issue} pageInfo{hasNextPage endCursor}}}}`

// BenchmarkIssueList is a list of 30 issues as gh asks for it, and by REST, where no answer is kept.
func BenchmarkIssueList(b *testing.B) {
	s := apitest.Start(b, db.SQLite)
	s.User(b, "alice")
	s.Repo(b, "alice/garden", false)
	for n := range 60 {
		s.Check(b, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Status: 201,
			Send: fmt.Sprintf(`{"title": "Peas %d", "body": %q, "labels": ["bug", "enhancement"]}`, n,
				strings.Repeat("Grow. ", 100))})
	}
	send, _ := json.Marshal(map[string]any{"query": ghIssueList, "variables": map[string]any{"owner": "alice",
		"repo": "garden", "limit": 30}})
	ask := func(b *testing.B, method, path, body string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+s.Token(b, "alice"))
		w := httptest.NewRecorder()
		s.Server.ServeHTTP(w, r)
		if w.Code != 200 || strings.Contains(w.Body.String(), `"errors"`) {
			b.Fatal(w.Code, w.Body)
		}
	}
	b.Run("graphql", func(b *testing.B) {
		for b.Loop() {
			ask(b, "POST", "/graphql", string(send))
		}
	})
	b.Run("rest", func(b *testing.B) {
		n := 0
		for b.Loop() {
			n++
			ask(b, "GET", fmt.Sprintf("/repos/alice/garden/issues?x=%d", n), "")
		}
	})
}

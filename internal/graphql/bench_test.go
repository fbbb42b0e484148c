package graphql_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"arbor/internal/db"
	"arbor/internal/test/apitest"
	"arbor/internal/test/issuetest"
)

// ghIssueList is what gh issue list asks for.
const ghIssueList = `fragment issue on Issue {number,title,url,state,updatedAt,labels(first:100){
	nodes{id,name,description,color},totalCount}}
	query IssueList($owner:String!,$repo:String!,$limit:Int,$endCursor:String,$states:[IssueState!]=OPEN,
	$filterBy:IssueFilters){
	repository(owner:$owner,name:$repo){
	hasIssuesEnabled issues(first:$limit,after:$endCursor,orderBy:{field:CREATED_AT,direction:DESC},filterBy:$filterBy,
	states:$states){
	totalCount nodes{...issue} pageInfo{hasNextPage endCursor}}}}`

// BenchmarkIssueList is lists of 30 of many issues as gh asks for them, and by REST, where no answer is kept.
func BenchmarkIssueList(b *testing.B) {
	s := apitest.Start(b, db.SQLite)
	s.User(b, "alice")
	if _, err := issuetest.Fill(b.Context(), s.DB, issuetest.Options{First: "alice",
		Repos: []int{20_000, 1000}}); err != nil {
		b.Fatal(err)
	}
	ask := func(b *testing.B, method, path, body string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+s.Token(b, "alice"))
		w := httptest.NewRecorder()
		s.Server.ServeHTTP(w, r)
		if w.Code != 200 || strings.Contains(w.Body.String(), `"errors"`) {
			b.Fatal(w.Code, w.Body)
		}
	}
	for _, label := range []string{"", "bug"} {
		name, filter := cmp.Or(label, "all"), map[string]any{}
		if label != "" {
			filter["labels"] = []string{label}
		}
		send, _ := json.Marshal(map[string]any{"query": ghIssueList, "variables": map[string]any{
			"owner": "works", "repo": "project0", "limit": 30, "filterBy": filter}})
		b.Run(name+"/graphql", func(b *testing.B) {
			for b.Loop() {
				ask(b, "POST", "/graphql", string(send))
			}
		})
		b.Run(name+"/rest", func(b *testing.B) {
			n := 0
			for b.Loop() {
				n++
				ask(b, "GET", fmt.Sprintf("/repos/works/project0/issues?labels=%s&x=%d", label, n), "")
			}
		})
	}
}

package graphql_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// paged is a list that changes while somebody reads it in pages of two.
type paged struct {
	name   string
	list   string // the connection, with its pages' arguments as $page, and key as the name of a node
	more   func(n int) apitest.Case
	remove func(key string) apitest.Case // called for each row that was read; without a method it does nothing
}

// A program that reads a list in pages gets each row that was there when it began, once: also if rows are
// added at the front between two pages, or if it closes or deletes the rows that it has read.
func TestPagesOfListsThatChange(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/a", As: "alice", Status: 201,
			Send: `{"message": "0", "content": "YQ=="}`})
		sha := member(t, s, "alice", "/repos/alice/garden/commits/main", "sha")
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/issues", As: "alice", Send: `{"title": "t"}`, Status: 201})
		post := func(path, format string) func(n int) apitest.Case {
			return func(n int) apitest.Case {
				return apitest.Case{Do: "POST " + path, As: "alice", Status: 201, Send: fmt.Sprintf(format, n)}
			}
		}
		const in = `repository(owner:"alice",name:"garden")`
		issues := post("/repos/alice/garden/issues", `{"title": "i%d"}`)
		for _, l := range []paged{
			{name: "issues", more: issues, list: in + `{issues($page,orderBy:{field:CREATED_AT,direction:DESC}){$nodes{key:number}}}`},
			{name: "updated issues", more: issues,
				list: in + `{issues($page,orderBy:{field:UPDATED_AT,direction:DESC}){$nodes{key:number}}}`},
			{name: "open issues that are closed", more: issues,
				list: in + `{issues($page,states:OPEN){$nodes{key:number}}}`,
				remove: func(key string) apitest.Case {
					return apitest.Case{Do: "PATCH /repos/alice/garden/issues/" + key, As: "alice",
						Send: `{"state": "closed"}`, Status: 200}
				}},
			{name: "found issues", more: issues,
				list: `search($page,type:ISSUE,query:"repo:alice/garden sort:created-desc"){$nodes{...on Issue{key:number}}}`},
			{name: "releases", more: post("/repos/alice/garden/releases", `{"tag_name": "r%d"}`),
				list: in + `{releases($page){$nodes{key:tagName}}}`},
			{name: "tags", more: post("/repos/alice/garden/git/refs", `{"ref": "refs/tags/t%02d", "sha": "`+sha+`"}`),
				list: in + `{refs($page,refPrefix:"refs/tags/",direction:DESC){$nodes{key:name}}}`},
			{name: "commits", list: in + `{defaultBranchRef{target{...on Commit{history($page){$nodes{key:message}}}}}}`,
				more: func(n int) apitest.Case {
					return apitest.Case{Do: fmt.Sprintf("PUT /repos/alice/garden/contents/f%d", n), As: "alice",
						Status: 201, Send: fmt.Sprintf(`{"message": "c%d", "content": "YQ=="}`, n)}
				}},
			{name: "labels", more: func(n int) apitest.Case {
				return post("/repos/alice/garden/labels", `{"name": "a%02d"}`)(99 - n)
			}, list: in + `{labels($page,orderBy:{field:NAME,direction:ASC}){$nodes{key:name}}}`},
			{name: "labels by time", more: post("/repos/alice/garden/labels", `{"name": "b%d"}`),
				list: in + `{labels($page,orderBy:{field:CREATED_AT,direction:DESC}){$nodes{key:name}}}`},
			{name: "milestones", more: func(n int) apitest.Case {
				return post("/repos/alice/garden/milestones",
					`{"title": "m%[1]d", "due_on": "20%[1]d-01-01T00:00:00Z"}`)(99 - n)
			}, list: in + `{milestones($page){$nodes{key:title}}}`},
			{name: "repositories", more: post("/user/repos", `{"name": "r%d"}`),
				list: `viewer{repositories($page,orderBy:{field:CREATED_AT,direction:DESC}){$nodes{key:name}}}`},
			{name: "repositories by name", more: func(n int) apitest.Case {
				return post("/user/repos", `{"name": "a%02d"}`)(99 - n)
			}, list: `viewer{repositories($page,orderBy:{field:NAME,direction:ASC}){$nodes{key:name}}}`},
			{name: "statuses", more: func(n int) apitest.Case {
				return post("/repos/alice/garden/statuses/"+sha, `{"state": "success", "context": "s%02d"}`)(99 - n)
			}, list: in + `{object(oid:"` + sha + `"){...on Commit{statusCheckRollup{contexts($page){$nodes{...on StatusContext{
				key:context}}}}}}}`},
			{name: "comments that are deleted", more: post("/repos/alice/garden/issues/1/comments", `{"body": "k%d"}`),
				list: in + `{issue(number:1){comments($page){$nodes{key:databaseId}}}}`,
				remove: func(key string) apitest.Case {
					return apitest.Case{Do: "DELETE /repos/alice/garden/issues/comments/" + key, As: "alice", Status: 204}
				}},
			{name: "timeline", more: post("/repos/alice/garden/issues/1/comments", `{"body": "k%d"}`),
				list: in + `{issue(number:1){timelineItems($page,itemTypes:ISSUE_COMMENT){$nodes{...on IssueComment{key:databaseId}}}}}`,
				remove: func(key string) apitest.Case {
					return apitest.Case{Do: "DELETE /repos/alice/garden/issues/comments/" + key, As: "alice", Status: 204}
				}},
		} {
			t.Run(l.name, func(t *testing.T) { l.read(t, s) })
		}
	})
}

// read reads the list in pages, while it changes between any two.
func (l *paged) read(t *testing.T, s *apitest.Server) {
	n := 0
	add := func() {
		n++
		s.Check(t, l.more(n))
	}
	for range 6 {
		add()
	}
	rows, _ := l.page(t, s, "first:100")
	var got []string
	for after := ""; ; {
		page, end := l.page(t, s, `first:2,after:"`+after+`"`)
		got = append(got, page...)
		if end == "" {
			break
		}
		add()
		if l.remove != nil {
			for _, key := range page {
				s.Check(t, l.remove(key))
			}
		}
		after = end
	}
	for _, key := range rows {
		if !slices.Contains(got, key) {
			t.Errorf("%s is missing in %v", key, got)
		}
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(got))); len(sorted) != len(got) {
		t.Errorf("some are repeated in %v", got)
	}
}

// page reads a page: its rows, and where the next one begins; empty: there is none.
func (l *paged) page(t *testing.T, s *apitest.Server, arguments string) (rows []string, next string) {
	t.Helper()
	query := strings.NewReplacer("$page", arguments, "$nodes",
		"pageInfo{hasNextPage endCursor} nodes").Replace(l.list)
	var answer struct {
		Data   any
		Errors []any
	}
	body := ask{as: "alice", query: "{" + query + "}", want: `{"data": "$any"}`}.check(t, s)
	if err := json.Unmarshal([]byte(body), &answer); err != nil || answer.Errors != nil {
		t.Fatalf("%s: %v %s", query, err, body)
	}
	c := connectionIn(answer.Data)
	for _, node := range c["nodes"].([]any) {
		rows = append(rows, fmt.Sprint(node.(map[string]any)["key"]))
	}
	if info := c["pageInfo"].(map[string]any); info["hasNextPage"] == true {
		next = info["endCursor"].(string)
	}
	return rows, next
}

// connectionIn finds the only connection of an answer.
func connectionIn(v any) map[string]any {
	for {
		m := v.(map[string]any)
		if m["pageInfo"] != nil {
			return m
		}
		for _, inner := range m {
			v = inner
		}
	}
}

package graphql_test

import (
	"encoding/json"
	"testing"

	"arbor/internal/test/apitest"
)

// A branch that was made for an issue stands with it as long as both are there, for those who see both.
func TestLinkedBranches(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		s.Repo(t, "alice/cellar", true)
		s.Repo(t, "alice/shed", false)
		for _, name := range []string{"cellar", "shed"} {
			s.Check(t, apitest.Case{Do: "PUT /repos/alice/" + name + "/contents/a", As: "alice",
				Send: `{"message": "A", "content": "YQ=="}`, Status: 201})
		}
		v["sha"] = member(t, s, "alice", "/repos/alice/bed/commits/main", "sha")
		v["hidden"] = member(t, s, "alice", "/repos/alice/cellar/commits/main", "sha")
		v["cellar"] = member(t, s, "alice", "/repos/alice/cellar", "node_id")
		v["shed"] = member(t, s, "alice", "/repos/alice/shed", "node_id")
		check := func(as, query, want string) string {
			t.Helper()
			return ask{as: as, query: query, want: want, variables: v}.check(t, s)
		}
		list := func(as, repo, want string) {
			t.Helper()
			check(as, `{repository(owner:"alice",name:"`+repo+
				`"){issue(number:1){linkedBranches(first:9){totalCount
				nodes{ref{name prefix target{oid} repository{nameWithOwner}}}}}}}`,
				`{"data": {"repository": {"issue": {"linkedBranches": `+want+`}}}}`)
		}
		const create = `mutation($i:ID!,$sha:GitObjectID!){createLinkedBranch(input:{issueId:$i,oid:$sha,
			name:"dev/peas"}){issue{number} linkedBranch{id ref{name}}}}`
		check("carol", create, `{"data": {"createLinkedBranch": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		body := check("bob", create, `{"data": {"createLinkedBranch": {"issue": {"number": 1},
			"linkedBranch": {"ref": {"name": "dev/peas"}}}}}`)
		check("bob", create, `{"data": {"createLinkedBranch": null}, "errors": [{"type": "UNPROCESSABLE",
			"message": "Reference already exists"}]}`)
		var made struct {
			Data struct {
				Create struct{ LinkedBranch struct{ ID string } } `json:"createLinkedBranch"`
			}
		}
		if err := json.Unmarshal([]byte(body), &made); err != nil {
			t.Fatal(err)
		}
		v["l"] = made.Data.Create.LinkedBranch.ID
		check("", `mutation($i:ID!,$sha:GitObjectID!){createLinkedBranch(input:{issueId:$i,oid:$sha}){
			linkedBranch{ref{name id}}}}`,
			`{"data": {"createLinkedBranch": {"linkedBranch": {"ref": {"name": "1-issue-1", "id": "$any"}}}}}`)
		// Nothing is known of what one does not see: the branch is elsewhere, or its commit.
		check("", `mutation($i:ID!,$hidden:GitObjectID!,$cellar:ID!){
			createLinkedBranch(input:{issueId:$i,oid:$hidden,name:"secret",repositoryId:$cellar}){linkedBranch{ref{name}}}}`,
			`{"data": {"createLinkedBranch": {"linkedBranch": {"ref": {"name": "secret"}}}}}`)
		check("bob", `mutation($i:ID!,$hidden:GitObjectID!){
			createLinkedBranch(input:{issueId:$i,oid:$hidden,name:"x"}){linkedBranch{id}}}`,
			`{"data": {"createLinkedBranch": null}, "errors": [{"type": "UNPROCESSABLE"}]}`)
		const two = `{"totalCount": 2, "nodes": [{"ref": {"name": "dev/peas", "prefix": "refs/heads/",
			"repository": {"nameWithOwner": "alice/bed"}}}, {"ref": {"name": "1-issue-1"}}]}`
		list("bob", "bed", two)
		list("carol", "bed", two)
		list("alice", "bed", `{"totalCount": 3}`)
		check("carol", `query($l:ID!){node(id:$l){...on LinkedBranch{ref{name}}}}`,
			`{"data": {"node": {"ref": {"name": "dev/peas"}}}}`)
		check("carol", `mutation($l:ID!){deleteLinkedBranch(input:{linkedBranchId:$l}){issue{number}}}`,
			`{"data": {"deleteLinkedBranch": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		check("bob", `mutation($l:ID!){deleteLinkedBranch(input:{linkedBranchId:$l}){issue{number title}}}`,
			`{"data": {"deleteLinkedBranch": {"issue": {"number": 1, "title": "Issue 1"}}}}`)
		check("bob", `query($l:ID!){node(id:$l){id}}`,
			`{"data": {"node": null}, "errors": [{"type": "NOT_FOUND"}]}`)
		// it stays
		s.Check(t, apitest.Case{Do: "GET /repos/alice/bed/git/ref/heads/dev/peas", As: "bob", Status: 200})
		list("bob", "bed", `{"totalCount": 1}`)
		// With the branch the link goes, and does not come back with another one of its name.
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/bed/git/refs/heads/1-issue-1", As: "alice",
			Status: 204})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/bed/git/refs", As: "alice",
			Send: `{"ref": "refs/heads/1-issue-1", "sha": "` + v["sha"].(string) + `"}`, Status: 201})
		list("bob", "bed", `{"totalCount": 0}`)
		check("", `mutation($i:ID!,$shed:ID!){transferIssue(input:{issueId:$i,repositoryId:$shed}){issue{number}}}`,
			`{"data": {"transferIssue": {"issue": {"number": 1}}}}`)
		list("alice", "shed", `{"totalCount": 1, "nodes": [{"ref": {"name": "secret",
			"repository": {"nameWithOwner": "alice/cellar"}}}]}`)
		list("bob", "shed", `{"totalCount": 0}`)
		s.Check(t, apitest.Case{Do: "PATCH /repos/alice/shed", As: "alice", Send: `{"archived": true}`,
			Status: 200})
		v["i"] = member(t, s, "alice", "/repos/alice/shed/issues/1", "node_id")
		check("", create, `{"data": {"createLinkedBranch": null}, "errors": [{"type": "FORBIDDEN"}]}`)
		s.Check(t, apitest.Case{Do: "DELETE /repos/alice/cellar", As: "alice", Status: 204})
		list("alice", "shed", `{"totalCount": 0}`)
	})
}

// An App that may only change issues makes no branch by linking one.
func TestLinkedBranchesNeedContents(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		v["sha"] = member(t, s, "alice", "/repos/alice/bed/commits/main", "sha")
		s.Bot(t, "sorter", "alice", "issues=write,contents=read")
		s.Bot(t, "tiller", "alice", "issues=write,contents=write")
		for as, want := range map[string]string{
			"sorter[bot]": `{"data": {"createLinkedBranch": null}, "errors": [{"type": "FORBIDDEN"}]}`,
			"tiller[bot]": `{"data": {"createLinkedBranch": {"linkedBranch": {"ref": {"name": "dev"}}}}}`,
		} {
			ask{as: as, query: `mutation($i:ID!,$sha:GitObjectID!){createLinkedBranch(input:{issueId:$i,oid:$sha,
				name:"dev"}){linkedBranch{ref{name}}}}`,
				want: want, variables: v}.check(t, s)
		}
	})
}

// An App that sees issues alone learns that a branch was made, and neither its name nor its commit.
func TestLinkedBranchesWithoutContents(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		v := bed(t, s)
		s.Repo(t, "alice/cellar", true)
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/cellar/contents/a", As: "alice",
			Send: `{"message": "A", "content": "YQ=="}`, Status: 201})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/cellar/issues", As: "alice", Send: `{"title": "x"}`, Status: 201})
		v["i"] = member(t, s, "alice", "/repos/alice/cellar/issues/1", "node_id")
		v["sha"] = member(t, s, "alice", "/repos/alice/cellar/commits/main", "sha")
		ask{as: "alice", query: `mutation($i:ID!,$sha:GitObjectID!){createLinkedBranch(input:{issueId:$i,oid:$sha,
			name:"dark"}){linkedBranch{ref{name}}}}`, variables: v,
			want: `{"data": {"createLinkedBranch": {"linkedBranch": {"ref": {"name": "dark"}}}}}`}.check(t, s)
		s.Bot(t, "triager", "alice", "issues=read")
		s.Bot(t, "reader", "alice", "issues=read,contents=read")
		const query = `{repository(owner:"alice",name:"cellar"){issue(number:1){linkedBranches(first:9){
			nodes{ref{name target{oid}}}}}}}`
		for as, ref := range map[string]string{"triager[bot]": `null`,
			"reader[bot]": `{"name": "dark", "target": {"oid": "` + v["sha"].(string) + `"}}`} {
			ask{as: as, query: query, want: `{"data": {"repository": {"issue": {"linkedBranches":
				{"nodes": [{"ref": ` + ref + `}]}}}}}`}.check(t, s)
		}
	})
}

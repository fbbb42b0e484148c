package graphql_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"arbor/internal/test/apitest"
)

// What renovate, release-please and semantic-release ask about a repository's code.
func TestGitObjects(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.User(t, "alice")
		s.Repo(t, "alice/garden", false)
		s.Repo(t, "alice/empty", false)
		put := func(path, content, date string) string {
			t.Helper()
			send := fmt.Sprintf(
				`{"message": "Plant %s", "content": %q, "author": {"name": "A", "email": "a@x", "date": %[3]q},
				"committer": {"name": "A", "email": "a@x", "date": %[3]q}}`, path, content, date)
			a := s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/" + path, As: "alice",
				Send: send, Status: 201})
			var made struct{ Commit struct{ SHA string } }
			if err := json.Unmarshal(a.Body, &made); err != nil {
				t.Fatal(err)
			}
			return made.Commit.SHA
		}
		first := put("a.md", "YQo=", "2024-01-01T00:00:00Z")
		second := put("beds/b.bin", "AAE=", "2024-01-02T00:00:00Z")
		tag := s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/tags", As: "alice", Status: 201,
			Send: `{"tag": "v10", "message": "Ten", "object": "` + first +
				`", "type": "commit", "tagger": {"name": "T", "email": "t@x", "date": "2025-05-05T00:00:00Z"}}`})
		var annotated struct{ SHA string }
		if err := json.Unmarshal(tag.Body, &annotated); err != nil {
			t.Fatal(err)
		}
		for ref, sha := range map[string]string{"tags/v10": annotated.SHA, "tags/v9": second,
			"heads/peas": first} {
			s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/git/refs", As: "alice",
				Send: `{"ref": "refs/` + ref +
					`", "sha": "` + sha + `"}`, Status: 201})
		}
		send := `{"message": "Peas", "content": "YQ==", "branch": "peas"}`
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/contents/peas", As: "alice", Send: send,
			Status: 201})
		s.Check(t, apitest.Case{Do: "POST /repos/alice/garden/pulls", As: "alice",
			Send: `{"title": "Peas", "head": "peas", "base": "main"}`, Status: 201})
		s.Check(t, apitest.Case{Do: "PUT /repos/alice/garden/pulls/1/merge", As: "alice", Send: `{}`,
			Status: 200})

		in := func(inner string) string { return `{repository(owner:"alice",name:"garden"){` + inner + `}}` }
		is := func(inner string) string { return `{"data": {"repository": ` + inner + `}}` }
		fill := strings.NewReplacer("FIRST", first, "SECOND", second, "ANNOTATED", annotated.SHA)
		for query, want := range map[string]string{
			`refs(first:5,refPrefix:"refs/tags/",orderBy:{field:TAG_COMMIT_DATE,direction:DESC}){
				totalCount nodes{version:name target{type:__typename
				...on Commit{oid committedDate} ...on Tag{target{...on Commit{oid}} tagger{date name
				user{login}}}}}}`: `{"refs": {"totalCount": 2, "nodes": [
				{"version": "v9", "target": {"type": "Commit", "oid": "SECOND", "committedDate": "2024-01-02T00:00:00Z"}},
				{"version": "v10", "target": {"type": "Tag", "target": {"oid": "FIRST"},
				"tagger": {"date": "2025-05-05T00:00:00Z", "name": "T", "user": null}}}]}}`,
			`refs(first:1,refPrefix:"refs/heads/",query:"EA"){totalCount nodes{name}
				pageInfo{hasNextPage}}`: `{"refs": {"totalCount": 1, "nodes": [{"name": "peas"}],
				"pageInfo": {"hasNextPage": false}}}`,
			`ref(qualifiedName:"main"){target{...on Commit{signature{__typename isValid state wasSignedByGitHub signer{login}}}}}
				object(expression:"FIRST"){...on Commit{signature{isValid}}}`: `{"ref": {"target": {"signature": {
				"__typename": "GpgSignature", "isValid": true, "state": "VALID", "wasSignedByGitHub": true, "signer": null}}},
				"object": {"signature": null}}`,
			`refs(first:9,refPrefix:"refs/heads/",direction:DESC){nodes{name}}`: `{"refs": {"nodes": [{"name": "peas"},
				{"name": "main"}]}}`,
			`a:object(expression:"HEAD:a.md"){...on Blob{text byteSize isBinary isTruncated}}
				b:object(expression:"v9:beds/b.bin"){...on Blob{text byteSize isBinary}}`: `{
				"a": {"text": "a\n", "byteSize": 2, "isBinary": false, "isTruncated": false}, "b": {"text": null,
				"byteSize": 2, "isBinary": true}}`,
			`object(expression:"v9:"){...on Tree{entries{name path type mode size object{...on Blob{byteSize}
				...on Tree{entries{path object{...on Blob{byteSize}}}}}}}}`: `{"object": {"entries": [
				{"name": "a.md", "path": "a.md", "type": "blob", "mode": 33188, "size": 2, "object": {"byteSize": 2}},
				{"name": "beds", "path": "beds", "type": "tree", "mode": 16384, "size": 0,
				"object": {"entries": [{"path": "beds/b.bin", "object": {"byteSize": 2}}]}}]}}`,
			`v10:object(expression:"v10"){__typename oid ...on Tag{message target{oid}}} main:object(expression:"main"){
				__typename} sha:object(oid:"FIRST"){...on Commit{messageHeadline}}
				none:object(expression:"nope"){oid} away:object(oid:"` + strings.Repeat("1",
				40) + `"){oid} odd:object(oid:"main"){oid}`: `{
				"v10": {"__typename": "Tag", "oid": "ANNOTATED", "message": "Ten", "target": {"oid": "FIRST"}},
				"main": {"__typename": "Commit"},
				"sha": {"messageHeadline": "Plant a.md"}, "none": null, "away": null, "odd": null}`,
			`ref(qualifiedName:"v9"){target{...on Commit{history(first:5,path:"a.md"){totalCount nodes{oid tree{oid}
				parents(first:2){totalCount}}}}}}`: `{"ref": {"target": {"history": {
				"totalCount": 1, "nodes": [{"oid": "FIRST", "parents": {"totalCount": 0}}]}}}}`,
			`ref(qualifiedName:"main"){target{...on Commit{history(first:3){nodes{associatedPullRequests(first:5){
				nodes{number title files(first:5){nodes{path}} mergeCommit{oid}}} parents(first:2){
				nodes{messageHeadline}}}}}}}`: `{
				"ref": {"target": {"history": {"nodes": [
				{"associatedPullRequests": {"nodes": [{"number": 1, "title": "Peas", "files": {"nodes": [{"path": "peas"}]}}]}},
				{}, {}]}}}}`,
			`hasVulnerabilityAlertsEnabled mergeQueue{id}`: `{"hasVulnerabilityAlertsEnabled": false, "mergeQueue": null}`,
		} {
			ask{query: in(fill.Replace(query)), want: is(fill.Replace(want))}.check(t, s)
		}
		ask{query: `{repository(owner:"alice",name:"empty"){object(expression:"HEAD"){oid}
			refs(first:3,refPrefix:"refs/heads/"){totalCount nodes{name}}}}`,
			want: is(`{"object": null, "refs": {"totalCount": 0, "nodes": []}}`)}.check(t, s)
		ask{query: in(`refs(first:3,refPrefix:"heads"){totalCount}`),
			want: `{"errors": [{"type": "UNPROCESSABLE"}]}`}.check(t, s)
		id := member(t, s, "alice", "/repos/alice/garden/git/commits/"+first, "node_id")
		ask{query: `{node(id:"` + id + `"){...on Commit{messageHeadline}}}`,
			want: `{"data": {"node": {"messageHeadline": "Plant a.md"}}}`}.check(t, s)
	})
}

package graphql_test

import (
	"testing"

	"arbor/internal/test/apitest"
)

// What a repository is about: topics, languages, license and community files, as REST tells them.
func TestFactsOfRepository(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Users(t, "alice", "bob")
		s.Repo(t, "alice/bed", false)
		s.Repo(t, "alice/cellar", true)
		file := func(path, content string) apitest.Case {
			return apitest.Case{Do: "PUT /repos/alice/bed/contents/" + path, As: "alice",
				Send: `{"message": "A", "content": "` + content + `"}`, Status: 201}
		}
		for _, c := range []apitest.Case{
			file("main.go", "cGFja2FnZSBtYWluCg=="), file("a.sh", "bHMK"),
			file("docs/CONTRIBUTING.md", "QmUga2luZAo="), file("CODE_OF_CONDUCT.md", "V2VsbAo="),
			{Do: "PUT /repos/alice/bed/topics", As: "alice", Send: `{"names": ["seeds", "peas"]}`, Status: 200},
			{Do: "PUT /repos/alice/cellar/topics", As: "alice", Send: `{"names": ["seeds"]}`, Status: 200},
			{Do: "PATCH /repos/alice/bed", As: "alice", Send: `{"description": "Peas & beans",
				"squash_merge_commit_title": "PR_TITLE"}`, Status: 200},
		} {
			s.Check(t, c)
		}
		s.Settle(t)
		in := func(fields string) string { return `{repository(owner:"alice",name:"bed"){` + fields + `}}` }
		const rights = `viewerCanUpdateTopics squashMergeCommitTitle squashPrTitleUsedAsDefault`
		for _, a := range []ask{
			{query: in(`languages(first:5){totalSize edges{size node{name color}}} asc:languages(first:1,
				orderBy:{field:SIZE,direction:ASC}){nodes{name}} primaryLanguage{name}`), want: `{"data": {"repository": {
				"languages": {"totalSize": 16, "edges": [{"size": 13, "node": {"name": "Go", "color": "#00ADD8"}},
				{"size": 3, "node": {"name": "Shell", "color": "#89e051"}}]}, "asc": {"nodes": [{"name": "Shell"}]},
				"primaryLanguage": {"name": "Go"}}}}`},
			{query: in(`contributingGuidelines{body resourcePath} codeOfConduct{key body url}`), want: `{"data": {"repository": {
				"contributingGuidelines": {"body": "Be kind\n", "resourcePath": "/alice/bed/blob/main/docs/CONTRIBUTING.md"},
				"codeOfConduct": {"key": "other", "body": "Well\n", "url": "{base}/alice/bed/blob/main/CODE_OF_CONDUCT.md"}}}}`},
			{query: in(`descriptionHTML shortDescriptionHTML(limit:4) ` + rights), want: `{"data": {"repository": {
				"descriptionHTML": "<div>Peas &amp; beans</div>", "shortDescriptionHTML": "<div>Peas…</div>",
				"viewerCanUpdateTopics": true, "squashMergeCommitTitle": "PR_TITLE", "squashPrTitleUsedAsDefault": true}}}`},
			{as: "bob", query: in(rights), want: `{"data": {"repository": {"viewerCanUpdateTopics": false,
				"squashMergeCommitTitle": "COMMIT_OR_PR_TITLE", "squashPrTitleUsedAsDefault": false}}}`},
			{query: `{topic(name:"seeds"){name repositories(first:1){totalCount nodes{name} pageInfo{hasNextPage}}}}`,
				want: `{"data": {"topic": {"name": "seeds", "repositories": {"totalCount": 2,
					"pageInfo": {"hasNextPage": true}}}}}`},
			{as: "bob", query: `{topic(name:"seeds"){repositories(first:5){totalCount nodes{name}} stargazerCount}
				none:topic(name:"weeds"){name} wrong:topic(name:"a b"){name}}`, want: `{"data": {"topic": {"repositories":
				{"totalCount": 1, "nodes": [{"name": "bed"}]}, "stargazerCount": 0}, "none": null, "wrong": null}}`},
			{as: "bob", query: in(`repositoryTopics(first:5){nodes{resourcePath topic{name repositories(first:5,
				privacy:PRIVATE){totalCount}}}}`), want: `{"data": {"repository": {"repositoryTopics": {"nodes": [
				{"resourcePath": "/search?q=topic%3Aseeds", "topic": {"name": "seeds", "repositories": {"totalCount": 0}}},
				{"topic": {"name": "peas"}}]}}}}`},
			{query: `{license(key:"mit"){key spdxId conditions{key label} pseudoLicense hidden url} licenses{key}
				none:license(key:"x"){key} relay{viewer{login}} meta{isPasswordAuthenticationVerifiable} codesOfConduct{key}}`,
				want: `{"data": {"license": {"key": "mit", "spdxId": "MIT", "conditions": [{"key": "include-copyright",
					"label": "Include copyright"}], "pseudoLicense": false, "hidden": false, "url": "https://spdx.org/licenses/MIT.html"},
					"none": null, "relay": {"viewer": {"login": "alice"}}, "meta": {"isPasswordAuthenticationVerifiable": false},
					"codesOfConduct": []}}`},
			{query: `{topic(name:"seeds"){repositories(first:5,orderBy:{field:PUSHED_AT,direction:ASC}){totalCount}}}`,
				want: `{"data": {"topic": null}, "errors": [{"message": "Arbor does not order by PUSHED_AT here."}]}`},
		} {
			a.check(t, s)
		}
	})
}

// Deploy keys are for those who administer a repository.
func TestDeployKeys(t *testing.T) {
	t.Parallel()
	apitest.Each(t, func(t *testing.T, s *apitest.Server) {
		s.Team(t)
		s.Check(t, apitest.Case{Do: "POST /repos/garden/plot/keys", As: "alice", Status: 201, Send: `{"title": "Robot",
			"key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEChSPoZ5nvzbFNlzxvnuvb5rtAsDDwiwpWYHmZsrl", "read_only": true}`})
		const query = `{repository(owner:"garden",name:"plot"){deployKeys(first:5){totalCount nodes{title readOnly}}}}`
		ask{query: query, want: `{"data": {"repository": {"deployKeys": {"totalCount": 1,
			"nodes": [{"title": "Robot", "readOnly": true}]}}}}`}.check(t, s)
		for _, login := range []string{"will", "sam"} {
			ask{as: login, query: query, want: `{"data": {"repository": {"deployKeys": {"totalCount": 0, "nodes": []}}}}`}.check(t, s)
		}
	})
}
